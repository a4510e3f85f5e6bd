"""Capabilities of R's functions by name, and of functions of well-known packages."""

from llm_sandbox.results.findings import Capability

__all__ = ["APPLIERS", "BASE", "PACKAGES", "READERS", "WRITERS", "find"]

_RUN, _FORK, _SIGNAL = Capability.PROCESS_RUN, Capability.PROCESS_FORK, Capability.PROCESS_SIGNAL
_SOCKET, _WEB = Capability.NETWORK_SOCKET, Capability.NETWORK_WEB
_TRANSFER, _NATIVE, _LOAD = (
    Capability.NETWORK_TRANSFER,
    Capability.NATIVE,
    Capability.DESERIALISE,
)
_DYNAMIC, _INSTALL = Capability.DYNAMIC_CODE, Capability.PACKAGE_INSTALL


def _table(groups: dict[Capability, str]) -> dict[str, Capability]:
    return {name: capability for capability, names in groups.items() for name in names.split()}


BASE = _table(
    {
        _RUN: "system system2 shell shell.exec pipe browseURL Rcmd Rscript",
        _FORK: "mcfork mcparallel mclapply mcmapply pvec makeCluster makeForkCluster "
        "makePSOCKcluster registerDoParallel registerDoMC",
        _SIGNAL: "pskill psnice",
        _SOCKET: "socketConnection serverSocket socketAccept make.socket read.socket write.socket "
        "startDynamicHelp nsl",
        _WEB: "url download.file url.show getURL getForm postForm",
        _NATIVE: ".Call .External .External2 .External.graphics .Call.graphics .C .Fortran "
        ".Internal dyn.load library.dynam getNativeSymbolInfo sourceCpp cppFunction evalCpp "
        "cfunction cxxfunction rcpp",
        _LOAD: "readRDS load unserialize loadRDS sys.load.image lazyLoad",
        _DYNAMIC: "str2lang str2expression dget sys.source loadcmp",
        Capability.FILE_DELETE: "unlink file.remove",
        Capability.FILE_PERMISSION: "Sys.chmod Sys.umask",
        Capability.ENVIRONMENT: "Sys.getenv Sys.setenv Sys.unsetenv readRenviron",
        Capability.INTROSPECTION: "unlockBinding assignInNamespace assignInMyNamespace "
        "fixInNamespace sys.frames trace",
        _INSTALL: "install.packages update.packages install_github install_gitlab install_url "
        "install_version install_bioc install_git install_local biocLite p_load p_install",
    }
)
"""Functions that are written without a package."""

PACKAGES: dict[str, dict[str, Capability]] = {
    "BiocManager": {"install": _INSTALL},
    "RCurl": {**_table({_TRANSFER: "ftpUpload scp"}), "*": _WEB},
    "blastula": {"smtp_send": _TRANSFER},
    "callr": _table({_RUN: "* r r_bg r_process r_session rcmd rcmd_bg rscript rscript_process"}),
    "cronR": {"*": Capability.PERSISTENCE},
    "crul": {"*": _WEB},
    "curl": {**_table({_TRANSFER: "curl_upload send_mail"}), "*": _WEB},
    "emayili": {"server": _TRANSFER},
    "evaluate": {"evaluate": _DYNAMIC},
    "fs": _table({Capability.FILE_DELETE: "file_delete dir_delete link_delete"}),
    "future": {"plan": _FORK},
    "gmailr": {"gm_send_message": _TRANSFER},
    "httpuv": {"*": _SOCKET},
    "httr": _table({_WEB: "GET POST PUT PATCH DELETE HEAD VERB RETRY handle upload_file"}),
    "httr2": _table({_WEB: "req_perform request req_perform_stream req_perform_parallel"}),
    "inline": {"*": _NATIVE},
    "mailR": {"send.mail": _TRANSFER},
    "mirai": {"daemons": _FORK, "mirai": _FORK},
    "nanonext": {"*": _SOCKET},
    "pak": {"*": _INSTALL},
    "plumber": _table({_SOCKET: "pr_run plumb"}),
    "processx": _table({_RUN: "* process run"}),
    "ps": _table({_SIGNAL: "ps_kill ps_kill_tree ps_send_signal ps_suspend ps_terminate"}),
    "qs": _table({_LOAD: "qread qdeserialize"}),
    "rJava": _table({_NATIVE: ".jinit .jcall .jnew J"}),
    "remotes": {"*": _INSTALL},
    "renv": _table({_INSTALL: "install restore hydrate"}),
    "reticulate": _table({_DYNAMIC: "py_run_string py_eval py_run_file source_python"}),
    "rlang": _table({_DYNAMIC: "parse_expr parse_exprs parse_quo parse_quos"}),
    "rstudioapi": _table({_RUN: "terminalExecute terminalSend", _DYNAMIC: "sendToConsole"}),
    "rzmq": {"*": _SOCKET},
    "sendmailR": {"sendmail": _TRANSFER},
    "shiny": _table({_SOCKET: "runApp shinyApp"}),
    "ssh": {"*": _TRANSFER},
    "sys": _table({_RUN: "exec_wait exec_background exec_internal r_wait r_internal"}),
    "taskscheduleR": {"*": Capability.PERSISTENCE},
    "websocket": {"*": _SOCKET},
    "xfun": _table({_RUN: "system3 Rscript Rscript_call"}),
}
"""Functions of packages, written with the package or after attaching it."""

_APPLIERS_WORDS = (
    "Filter Find Map Negate Position Recall Reduce Vectorize addTaskCallback apply by compose "
    "do.call eapply exec future_lapply imap invoke invoke_map lapply map map2 map_chr map_dbl "
    "map_int map_lgl mapply match.fun on.exit outer parLapply parSapply partial pmap pwalk rapply "
    "reg.finalizer sapply tapply vapply walk walk2"
)
APPLIERS = frozenset(_APPLIERS_WORDS.split())
"""Functions that call the functions passed to them."""

WRITERS: dict[str, tuple[int, str]] = {
    "capture.output": (99, "file"),
    "cat": (99, "file"),
    "dir.create": (0, "path"),
    "download.file": (1, "destfile"),
    "dput": (1, "file"),
    "dump": (1, "file"),
    "file.append": (0, "file1"),
    "file.copy": (1, "to"),
    "file.create": (0, "file"),
    "file.link": (1, "to"),
    "file.rename": (1, "to"),
    "file.symlink": (1, "to"),
    "fwrite": (1, "file"),
    "ggsave": (0, "filename"),
    "pdf": (0, "file"),
    "png": (0, "filename"),
    "save": (99, "file"),
    "save.image": (0, "file"),
    "saveRDS": (1, "file"),
    "sink": (0, "file"),
    "untar": (99, "exdir"),
    "unzip": (99, "exdir"),
    "write": (1, "file"),
    "write.csv": (1, "file"),
    "write.table": (1, "file"),
    "writeBin": (1, "con"),
    "writeChar": (1, "con"),
    "writeLines": (1, "con"),
    "write_csv": (1, "file"),
    "write_lines": (1, "file"),
}
"""Functions that write a file, with the argument that names it."""

_READERS_WORDS = (
    "bzfile file fread fromJSON gzcon gzfile read.csv read.csv2 read.delim read.table read_csv "
    "read_html read_json read_lines read_tsv read_xml readLines readRDS scan source stream_in "
    "xzfile"
)
READERS = frozenset(_READERS_WORDS.split())
"""Functions that accept a URL in place of a path."""


def find(name: str, attached: frozenset[str]) -> Capability | None:
    """Return the capability of a function.

    Args:
        name: Name of the function, with the package where that is written: ``httr::GET``.
        attached: Packages that the program attaches.
    """
    package, _, function = name.rpartition("::")
    if not package:
        if name in BASE:
            return BASE[name]
        for candidate in sorted(attached & PACKAGES.keys()) if attached else ():
            if name in PACKAGES[candidate]:
                return PACKAGES[candidate][name]
        return None
    if package in PACKAGES:
        table = PACKAGES[package]
        return table.get(function, table.get("*"))
    return BASE.get(function)
