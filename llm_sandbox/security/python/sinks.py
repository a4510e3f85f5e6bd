"""Sinks: capabilities of calls by full name, the table to extend when a rule is missing.

``{a,b}`` in a name stands for both; ``x()`` is the result of calling x, so that
``socket.socket().connect`` is a method of a socket. A name that ends with ``.*`` stands for all
names below it.
"""

from functools import lru_cache

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.python.full_names import names

__all__ = ["CALLS", "ONLY_CALLED", "READS", "WATCHED", "WILD", "capability_of", "is_tracked"]

_CALLS = {
    Capability.PROCESS_RUN: """
        os.{system,popen,popen2,popen3,popen4,startfile} os.exec{l,le,lp,lpe,v,ve,vp,vpe}
        os.spawn{l,le,lp,lpe,v,ve,vp,vpe} os.posix_spawn os.posix_spawnp os._execvpe os._spawnvef
        subprocess.{run,call,check_call,check_output,getoutput,getstatusoutput,Popen}
        _posixsubprocess.fork_exec _winapi.CreateProcess multiprocessing.util.spawnv_passfds
        commands.{getoutput,getstatusoutput} popen2.{popen2,popen3,popen4,Popen3,Popen4} pty.spawn
        pexpect.{spawn,run,runu} pexpect.{popen_spawn.PopenSpawn,pxssh.pxssh,fdpexpect.fdspawn}
        pexpect.pty_spawn.spawn pexpect.replwrap.* ptyprocess.{PtyProcess,PtyProcessUnicode}.spawn
        platform.popen webbrowser.{open,open_new,open_new_tab} webbrowser.get().{open,open_new}
        webbrowser.{BackgroundBrowser,GenericBrowser,UnixBrowser,Konqueror,Grail}().open
        webbrowser.{BackgroundBrowser,GenericBrowser,UnixBrowser,Mozilla,Chrome,Edge}
        asyncio.create_subprocess_{shell,exec} asyncio.subprocess.create_subprocess_{shell,exec}
        asyncio.{get_event_loop,new_event_loop,get_running_loop}().subprocess_{shell,exec}
        asyncio.unix_events._UnixSelectorEventLoop().subprocess_{shell,exec}
        asyncio.runners.Runner().get_loop().subprocess_{shell,exec}
        anyio.{run_process,open_process} trio.{run_process,open_process}
        trio.lowlevel.open_process distutils.spawn.spawn distutils.spawn._spawn_posix
        distutils.cmd.Command().spawn
        distutils.ccompiler.new_compiler().{spawn,compile,link,preprocess}
        setuptools._distutils.spawn.spawn setuptools.distutils.spawn.spawn
        setuptools._distutils.ccompiler.new_compiler().{spawn,compile,link,preprocess}
        numpy.distutils.exec_command.{exec_command,find_executable} numpy.distutils.exec_command
        numpy.distutils.misc_util.* numpy.f2py.{compile,run_main,main} numpy.f2py.f2py2e.*
        scipy.weave.* sh.* plumbum.* invoke.{run,Context} invoke.Context().run fabric.*
        delegator.* imaplib.IMAP4_stream mailcap.{findmatch,subst}
        pydoc.{pipepager,tempfilepager,browse} venv.{create,main} venv.EnvBuilder().create
        virtualenv.cli_run ensurepip.{bootstrap,_main}
        ctypes.util.{find_library,_findLib_gcc,_findLib_ld,_findSoname_ldconfig,_get_soname}
        ctypes.util._findLib_crle uuid._get_command_stdout uuid._{ifconfig,arp,netstat,ip}_getter
        _osx_support._read_output _aix_support._read_cmd_output sysconfig._main
        IPython.utils.process.{system,getoutput,getoutputerror,arg_split}
        IPython.utils.io.ask_yes_no IPython.utils._process_posix.ProcessHandler
        IPython.utils._process_posix.system
        IPython.utils._process_common.{getoutput,process_handler,get_output_error_code}
        IPython.shell().{system,getoutput,system_piped,system_raw} IPython.lib.latextools.*
        IPython.lib.backgroundjobs.BackgroundJobManager().new
        jupyter_client.{KernelManager,manager.KernelManager}().start_kernel
        jupyter_client.{start_new_kernel,run_kernel} nbconvert.preprocessors.ExecutePreprocessor
        nbclient.{NotebookClient,execute} papermill.execute_notebook nbformat.execute
        pipes.Template().{open,copy} os.pidfd_open test.support.script_helper.*
        test.support.script_helper._assert_python idlelib.* lib2to3.pgen2.driver.main
        pkg_resources.run_script xdist.* execnet.makegateway execnet.Group psutil.Popen
        matplotlib.testing.{compare.compare_images,subprocess_run_helper,subprocess_run_for_testing}
        matplotlib._get_executable_info matplotlib.cbook._check_and_log_subprocess
        matplotlib.dviread.{find_tex_file,_LuatexKpsewhich} matplotlib.texmanager.TexManager.*
        pandas.io.clipboard.* networkx.drawing.nx_agraph.view_pygraphviz PIL.Image.Image().show
        PIL.ImageShow.* sympy.{preview,printing.preview.preview} sympy.utilities.runtests.*
        sympy.{utilities.autowrap.autowrap,utilities.autowrap.ufuncify} graphviz.Source().view
        torch.utils.cpp_extension.* cffi.FFI().{verify,compile} git.{Repo.clone_from,Git}
        docker.{from_env,DockerClient,APIClient}
        antigravity.* posix_spawn.* pwn.* shlex.run ptpython.* dask.distributed.* luigi.*
        ansible.* pre_commit.* nox.* tox.* doit.* pytest.main pip.main unittest.main.runProgram
        concurrent.interpreters.* _bootsubprocess.* _aix_support.{_aix_bos_rte,aix_platform}
        asyncio.windows_utils.Popen ctypes._aix.get_ld_headers distutils.archive_util.make_tarball
        distutils.archive_util.make_zipfile distutils.ccompiler.CCompiler().spawn
        distutils.dist.Distribution().run_command
        distutils.cygwinccompiler.{_find_exe_version,is_cygwingcc} ensurepip._run_pip
        imaplib.IMAP4_stream().open mailcap.test pipes.Template().{open_r,open_w}
        platform._Processor.from_subprocess platform.{_syscmd_file,_syscmd_ver}
        pydoc.{getpager,pager} venv.EnvBuilder().{create,setup_python,_call_new_python}
        http.server.CGIHTTPRequestHandler().run_cgi webbrowser.{MacOSX,MacOSXOSAScript}().open
        subprocess.Popen()._execute_child multiprocessing.popen_spawn_posix.Popen
        multiprocessing.util.spawnv_passfds multiprocessing.resource_tracker.*
        os.{posix_spawn,spawnl} multiprocessing.forkserver.ensure_running
        asyncio.unix_events._UnixSubprocessTransport
        asyncio.base_subprocess.BaseSubprocessTransport
        asyncio.{get_event_loop_policy}().get_event_loop().subprocess_exec
        asyncio.{get_event_loop_policy}().get_event_loop().subprocess_shell
        asyncio.{SelectorEventLoop,ProactorEventLoop}().subprocess_{shell,exec}
    """,
    Capability.PROCESS_FORK: """
        os.{fork,fork1,forkpty} pty.fork multiprocessing.{Process,Pool,Manager,spawn.*}
        multiprocessing.process.* multiprocessing.pool.Pool multiprocessing.context.*
        multiprocessing.get_context().{Process,Pool} multiprocessing.popen_fork.*
        multiprocessing.forkserver.* multiprocessing.managers.{BaseManager,SyncManager}
        multiprocessing.dummy.Process concurrent.futures.ProcessPoolExecutor
        concurrent.futures.process.ProcessPoolExecutor socketserver.Forking{Mixin,MixIn}
        socketserver.Forking{TCP,UDP,UnixStream}Server billiard.Process loky.get_reusable_executor
        torch.multiprocessing.{Process,spawn,Pool} multiprocess.{Process,Pool} pathos.*
    """,
    Capability.PROCESS_SIGNAL: """
        os.{kill,killpg,abort} signal.{pthread_kill,raise_signal,pidfd_send_signal,alarm.kill}
        psutil.Process().{kill,terminate,send_signal,suspend} faulthandler._sigsegv
    """,
    Capability.NETWORK_SOCKET: """
        socket.{socket,create_connection,create_server,socketpair.server,fromfd,getaddrinfo}
        socket.{gethostbyname,gethostbyname_ex,gethostbyaddr,SocketType,getfqdn,getnameinfo}
        _socket.{socket,SocketType,getaddrinfo,gethostbyname}
        ssl.{wrap_socket,get_server_certificate} ssl.SSLSocket ssl.SSLContext().wrap_socket
        ssl.create_default_context().wrap_socket
        asyncio.{open_connection,start_server,open_unix_connection,start_unix_server}
        asyncio.streams.{open_connection,start_server}
        asyncio.{get_event_loop,new_event_loop,get_running_loop}().create_{connection,server}
        asyncio.{get_event_loop,new_event_loop,get_running_loop}().create_datagram_endpoint
        asyncio.{get_event_loop,new_event_loop,get_running_loop}().{sock_connect,getaddrinfo}
        socketserver.{TCPServer,UDPServer,ThreadingTCPServer,ThreadingUDPServer,UnixStreamServer}
        socketserver.UnixDatagramServer http.server.{HTTPServer,ThreadingHTTPServer,test}
        wsgiref.simple_server.{make_server,WSGIServer} xmlrpc.server.SimpleXMLRPCServer
        multiprocessing.connection.{Client,Listener} logging.config.listen asyncore.dispatcher
        logging.handlers.{SocketHandler,DatagramHandler,SysLogHandler} asynchat.async_chat
        telnetlib.Telnet dns.resolver.* scapy.* zmq.Context().socket websocket.* websockets.*
        socks.* pwnlib.* anyio.{connect_tcp,create_tcp_listener,connect_unix}
        anyio.create_unix_listener trio.{open_tcp_stream,serve_tcp,open_unix_socket} trio.socket.*
        gevent.socket.* eventlet.* redis.{Redis,StrictRedis,from_url} pymongo.MongoClient
        psycopg2.connect psycopg.connect pymysql.connect MySQLdb.connect mysql.connector.connect
        flask.Flask().run uvicorn.run tornado.tcpclient.TCPClient tornado.tcpserver.TCPServer
        tornado.httpserver.HTTPServer tornado.web.Application().listen aiohttp.web.run_app
        bottle.run waitress.serve bokeh.server.* dash.Dash().run dash.Dash().run_server rpyc.*
        Pyro4.* pyshark.* idlelib.rpc.* multiprocessing.managers.BaseManager().connect
    """,
    Capability.NETWORK_WEB: """
        urllib.request.{urlopen,urlretrieve,build_opener,install_opener,OpenerDirector,URLopener}
        urllib.request.FancyURLopener urllib.{urlopen,urlretrieve} urllib2.* urllib3.* httplib.*
        httplib2.* urllib.robotparser.RobotFileParser().read
        http.client.{HTTPConnection,HTTPSConnection} xmlrpc.client.{ServerProxy,Server}
        xmlrpclib.* requests.* httpx.* aiohttp.ClientSession aiohttp.request aiohttp.client.*
        pycurl.* mechanize.* treq.* grequests.* wget.*
        requests.{get,post,put,patch,delete,head,request,Session,session}
        requests.sessions.Session
        httpx.{get,post,put,patch,delete,head,request,stream,Client,AsyncClient}
        urllib3.{PoolManager,request,HTTPConnectionPool,HTTPSConnectionPool}
        http.client.HTTPConnection requests_html.* cloudscraper.* selenium.* playwright.*
        pyppeteer.* scrapy.* bs4.urlopen yfinance.* tweepy.* boto3.* botocore.* google.cloud.*
        openai.* huggingface_hub.* kaggle.* tornado.httpclient.{HTTPClient,AsyncHTTPClient}
        pip._vendor.requests.* pip._vendor.urllib3.* urllib.request.OpenerDirector().open
        fsspec.open s3fs.* gcsfs.* gdown.* pandas_datareader.* logging.handlers.HTTPHandler
    """,
    Capability.NETWORK_TRANSFER: """
        smtplib.{SMTP,SMTP_SSL,LMTP} ftplib.{FTP,FTP_TLS} poplib.{POP3,POP3_SSL}
        nntplib.{NNTP,NNTP_SSL} imaplib.{IMAP4,IMAP4_SSL} smtplib.* ftplib.* poplib.* nntplib.*
        paramiko.{SSHClient,Transport} paramiko.* fabric.Connection asyncssh.* pysftp.* scp.*
        aiosmtplib.* aioftp.* smtpd.* telnetlib3.* yagmail.* tftpy.* logging.handlers.SMTPHandler
        urllib.request.ftpwrapper pysmb.* smbclient.* impacket.*
    """,
    Capability.FILE_DELETE: """
        os.{remove,unlink,rmdir,removedirs,truncate,ftruncate} shutil.rmtree shutil._rmtree_unsafe
        pathlib.Path.{unlink,rmdir} pathlib.PosixPath.{unlink,rmdir} send2trash.send2trash
        distutils.dir_util.remove_tree setuptools._distutils.dir_util.remove_tree
        tempfile.TemporaryDirectory._rmtree test.support.os_helper.{rmtree,unlink}
    """,
    Capability.FILE_PERMISSION: """
        os.{chmod,fchmod,lchmod,chown,fchown,lchown,chflags,lchflags,setxattr,chroot}
        os.{setuid,setgid,seteuid,setegid,setreuid,setresuid,setregid,setresgid,setgroups}
        os.initgroups shutil.{chown} pathlib.Path.chmod pathlib.Path.lchmod
    """,
    Capability.NATIVE: """
        ctypes.{CDLL,PyDLL,WinDLL,OleDLL,LibraryLoader,CFUNCTYPE,PYFUNCTYPE,WINFUNCTYPE,string_at}
        ctypes.{memmove,memset,cast,wstring_at,py_object,from_address,_dlopen,FormatError,addressof}
        ctypes.{cdll,pydll,windll,oledll,pythonapi}.* ctypes.{cdll,windll}.LoadLibrary
        _ctypes.{dlopen,LoadLibrary,call_function,PyObj_FromPtr,dlsym,call_cdeclfunction,CFuncPtr}
        ctypes.{c_void_p,c_char_p,c_int,c_ulong,c_byte,c_char,c_uint8}.{from_address,from_buffer,in_dll}
        cffi.FFI cffi.* _cffi_backend.* os.memfd_create mmap.mmap.exec os.dlopen
        importlib.machinery.ExtensionFileLoader importlib._bootstrap_external.ExtensionFileLoader
        _imp.create_dynamic imp.load_dynamic numpy.ctypeslib.load_library cython.inline
        pyximport.install Cython.Build.cythonize numba.core.typing.ctypes_utils.* llvmlite.*
        _testcapi.* _testinternalcapi.* unicorn.* keystone.* readline.CDLL
        code.replace
    """,
    Capability.DESERIALISE: """
        pickle.{load,loads,Unpickler,_load,_loads,_Unpickler} _pickle.{load,loads,Unpickler}
        cPickle.{load,loads,Unpickler} marshal.{load,loads} shelve.{open,Shelf,DbfilenameShelf}
        shelve.BsdDbShelf dill.{load,loads,Unpickler,load_session,load_module}
        cloudpickle.{load,loads} pickle5.{load,loads} jsonpickle.{decode,loads}
        jsonpickle.unpickler.* joblib.load sklearn.externals.joblib.load pandas.read_pickle
        pandas.io.pickle.read_pickle pandas.compat.pickle_compat.* pandas.io.common.read_pickle
        yaml.{unsafe_load,unsafe_load_all} ruamel.yaml.load klepto.*
        multiprocessing.reduction.ForkingPickler.loads multiprocessing.connection.Client().recv
        multiprocessing.connection.Listener().accept pkgutil.read_code pstats.Stats
        tracemalloc.Snapshot.load trace.CoverageResults
        importlib._bootstrap_external._compile_bytecode zipimport._unmarshal_code zodbpickle.*
        networkx.read_gpickle networkx.readwrite.gpickle.read_gpickle statsmodels.api.load
        statsmodels.iolib.smpickle.load_pickle _pickle._Unpickler
    """,
    Capability.DYNAMIC_CODE: """
        builtins.{eval,exec,execfile} code.{interact,InteractiveInterpreter,InteractiveConsole}
        runpy.{run_path,run_module,_run_code,_run_module_code,_run_module_as_main}
        types.{FunctionType,CodeType,LambdaType} IPython.{embed,start_ipython,start_kernel}
        IPython.shell().{run_code,safe_execfile,safe_execfile_ipy,safe_run_module}
        zipimport.zipimporter zipimport.zipimporter().{load_module,exec_module}
        importlib._bootstrap._call_with_frames_removed _testcapi.run_in_subinterp
        _xxsubinterpreters.run_string _interpreters.{run_string,exec} distutils.core.run_setup
        setuptools._distutils.core.run_setup setuptools.build_meta.* setuptools.sandbox.run_setup
        imp.{load_source,load_compiled} imp.{load_module,load_package}
        importlib.machinery.{SourceFileLoader,SourcelessFileLoader}
        importlib._bootstrap_external.{SourceFileLoader,SourcelessFileLoader}
        importlib.util.spec_from_file_location site.{addpackage,addsitedir} site.execusercustomize
        asteval.Interpreter RestrictedPython.* py_mini_racer.* js2py.* execjs.*
        doctest.{testfile,run_docstring_examples} timeit.main trace.main pdb.main
        dataclasses._create_fn past.builtins.execfile six.exec_ pydoc.importfile
        rlcompleter.Completer().{attr_matches,complete} gettext.c2py
        optparse.Values().{read_file,read_module} turtle.{read_docstrings,_make_global_funcs}
        doctest.{debug_script,debug_src,debug,DocTestRunner().run} bdb.effective pdb.Pdb().default
        inspect._signature_fromstr unittest.mock._set_signature typing.ForwardRef()._evaluate
        tkinter.Tk().{eval,call,readprofile} tkinter.Tcl().{eval,call}
        _tkinter.create().{eval,call}
        importlib.machinery.SourceFileLoader().{load_module,exec_module} sys.breakpointhook
        future.utils.exec_ past.builtins.exec_ numpy.testing.{rundocs,runstring}
    """,
    Capability.INTROSPECTION: """
        gc.{get_objects,get_referrers,get_referents} sys.{_getframe,_current_frames}
        sys._current_exceptions inspect.{currentframe,stack,trace,getinnerframes,getouterframes}
        traceback.walk_stack builtins.object.__subclasses__ builtins.type.__subclasses__
        sys.{call_tracing,monitoring.*} sys.addaudithook ctypes.pythonapi.PySys_AddAuditHook
    """,
    Capability.ENVIRONMENT: """
        os.{getenv,getenvb,putenv,unsetenv} dotenv.{load_dotenv,dotenv_values} decouple.config
        environs.Env
    """,
    Capability.PERSISTENCE: """
        crontab.CronTab crontab.CronTab() winreg.{SetValue,SetValueEx,CreateKey} atd.*
    """,
    Capability.MINING: "pyrx.* randomx.* cryptonight.*",
    Capability.PACKAGE_INSTALL: """
        pip.{main,_internal.main} pip._internal.cli.main.main pip._internal.{main.main,cli.main}
        pip._internal.commands.create_command pip._internal.utils.entrypoints._wrapper
        setuptools.command.easy_install.main piplite.install micropip.install conda.cli.main
        conda.cli.python_api.run_command
    """,
}
_READS = {Capability.ENVIRONMENT: "os.environ os.environb os.environ.copy"}
"""Capabilities of mere lookups, without any call."""

_WATCHED = """
    os posix nt subprocess _posixsubprocess builtins importlib importlib.machinery importlib.util
    importlib._bootstrap importlib._bootstrap_external ctypes _ctypes ctypes.util socket _socket
    pty shutil pickle _pickle marshal shelve runpy code codeop multiprocessing cffi imp _imp
    zipimport pkgutil pydoc webbrowser pip ftplib smtplib telnetlib http.client http.server
    urllib.request requests httpx paramiko socketserver xmlrpc.client sys gc signal pexpect
    commands popen2 _winapi asyncio.subprocess distutils.spawn multiprocessing.util timeit pdb
"""
_WILD = """
    os.{system,popen,execv,execve,execvp,execl,execlp,spawnv,spawnl,spawnlp,spawnvp,posix_spawn,fork}
    os.{startfile,memfd_create}
    subprocess.{Popen,check_output,check_call,getoutput,getstatusoutput}
    _posixsubprocess.fork_exec builtins.{__import__,execfile} importlib.import_module ctypes.CDLL
    os.posix_spawnp os.forkpty shutil.rmtree
    asyncio.{create_subprocess_exec,create_subprocess_shell}
"""


def _flat(table: dict[Capability, str]) -> dict[str, Capability]:
    return {name: capability for capability, text in table.items() for name in names(text)}


CALLS = _flat(_CALLS)
"""Full name to the capability of its call."""
READS = _flat(_READS)
"""Full name to the capability of its lookup."""
WATCHED = frozenset(names(_WATCHED))
"""Modules that are tracked when they are passed on."""
_TRACKED = frozenset(
    names(
        """
        builtins.{open,compile} yaml.{load,load_all} torch.load numpy.load mmap.mmap io
        logging.config timeit.{timeit,repeat,Timer} cProfile.run pdb.run
        """
    )
)
"""Functions with a capability that depends on arguments, tracked like sinks."""
ONLY_CALLED = frozenset(
    names(
        """
        types.{FunctionType,CodeType,LambdaType} code.{InteractiveInterpreter,InteractiveConsole}
        importlib.machinery.{SourceFileLoader,SourcelessFileLoader,ExtensionFileLoader}
        ctypes.{cast,CFUNCTYPE} os.{getenv,umask} pickle._Unpickler
        """
    )
)
"""Names that are no finding when they are only mentioned, as in a comparison of types."""
WILD = {name.rpartition(".")[2]: name for name in names(_WILD)} | {
    "subprocess_exec": "asyncio.create_subprocess_exec",
    "subprocess_shell": "asyncio.create_subprocess_shell",
}
"""Method names so distinctive that they stand for the function even on an unknown object."""
_BELOW = {name[:-2]: capability for name, capability in CALLS.items() if name.endswith(".*")}
_ROOTS = frozenset(name.partition(".")[0] for name in _BELOW)


def capability_of(name: str) -> Capability | None:
    """Return the capability of a call by full name; None for a harmless one."""
    found = CALLS.get(name)
    if found is None and name.partition(".")[0] in _ROOTS:
        return _below(name)
    return found


@lru_cache(maxsize=4096)
def _below(name: str) -> Capability | None:
    at = len(name)
    while at > 0:
        if name[:at] in _BELOW:
            rest = name[at + 1 :].rpartition(".")[2].removesuffix("()")
            # Exceptions, constants and types have no effect; nor have methods of a call's result.
            return None if "Error" in rest or "()" in name[at:] else _BELOW[name[:at]]
        at = name.rfind(".", 0, at)
    return None


def is_tracked(name: str) -> bool:
    """Return whether values with a full name are tracked wherever they are passed."""
    return name in WATCHED or name in _TRACKED or capability_of(name) is not None
