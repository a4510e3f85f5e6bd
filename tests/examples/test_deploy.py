"""Files for the server's operation: whether what reads them takes them."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from llm_sandbox.backends.kubernetes.rights import role_rules

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "deploy"


def of_kind(kind: str, file: str = "kubernetes.yaml") -> dict[str, Any]:
    documents = yaml.safe_load_all((FOLDER / file).read_text())
    (found,) = [one for one in documents if one["kind"] == kind]
    return found


def words() -> dict[str, list[str]]:
    """The words after `llm-sandbox serve`, by file."""
    unit = re.search(r"ExecStart=\S+ serve (.*)", (FOLDER / "llm-sandbox.service").read_text())
    image = re.findall(
        r"^(?:ENTRYPOINT|CMD) \[(.*)\]", (FOLDER / "Containerfile").read_text(), re.M
    )
    (container,) = of_kind("Deployment")["spec"]["template"]["spec"]["containers"]
    workers = of_kind("Deployment", "evaluation.yaml")["spec"]["template"]["spec"]
    (worker,) = workers["containers"]
    assert unit is not None
    return {
        "unit": shlex.split(unit[1]),
        "image": shlex.split(" ".join(image).replace(",", " "))[2:],
        "pod": container["args"],
        "worker": worker["args"],
    }


@pytest.mark.parametrize("file", ["unit", "image", "pod", "worker"])
def test_options_are_those_of_the_server(file: str) -> None:
    command = [sys.executable, "-m", "llm_sandbox", "serve", "--help"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    given = {word.partition("=")[0] for word in words()[file] if word.startswith("--")}
    assert given
    assert given <= set(re.findall(r"--[a-z]+", text))


def test_the_server_fits_into_a_prepared_namespace() -> None:
    """Its account is there, and the network policy leaves its pod alone."""
    command = [sys.executable, "-m", "llm_sandbox", "kubernetes", "manifests"]
    command += ["--namespace", "sandboxes"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    made = {one["kind"]: one for one in yaml.safe_load_all(text)}
    deployment = of_kind("Deployment")
    pod = deployment["spec"]["template"]
    assert made["Namespace"]["metadata"]["name"] == deployment["metadata"]["namespace"]
    assert made["ServiceAccount"]["metadata"]["name"] == pod["spec"]["serviceAccountName"]
    selector = made["NetworkPolicy"]["spec"]["podSelector"]
    (all_but,) = selector["matchExpressions"]
    assert "NotIn" == all_but["operator"]
    assert pod["metadata"]["labels"][all_but["key"]] in all_but["values"]


def test_the_role_is_that_of_the_page() -> None:
    page = (FOLDER.parents[1] / "docs" / "kubernetes.md").read_text()
    block = re.search(r"```yaml\n(apiVersion: rbac.*?)```", page, re.S)
    assert block is not None
    assert yaml.safe_load(block[1])["rules"] == role_rules()


def test_a_pod_keeps_its_keys_to_itself() -> None:
    """The server refuses a file of keys that others can read."""
    spec = of_kind("Deployment")["spec"]["template"]["spec"]
    (init,) = spec["initContainers"]
    assert "0600" in init["command"]
    assert spec["securityContext"]["runAsNonRoot"]
    assert spec["terminationGracePeriodSeconds"] > 30
    assert 1 == of_kind("Deployment")["spec"]["replicas"]


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed: apt-get install systemd")
    # The account and the program are those of a computer that has the server.
    text = (FOLDER / "llm-sandbox.service").read_text()
    unit = tmp_path / "llm-sandbox.service"
    unit.write_text(re.sub("ExecStart=\\S+", "ExecStart=/bin/true", text).replace("User=llm", "#"))
    done = subprocess.run([program, "verify", str(unit)], capture_output=True, text=True)
    assert (0, "") == (done.returncode, done.stderr)
    unit.write_text("[Service]\nExecStart=relative\n")
    assert 0 != subprocess.run([program, "verify", str(unit)], capture_output=True).returncode


def test_nginx_takes_its_file(tmp_path: Path) -> None:
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        pytest.skip("nginx is not installed: apt-get install nginx-light")
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    make = ["openssl", "req", "-x509", "-nodes", "-newkey", "rsa:2048", "-subj", "/CN=t"]
    make += ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(make, check=True, capture_output=True)
    text = (FOLDER / "nginx.conf").read_text()
    text = text.replace("/etc/ssl/sandbox.example.org/fullchain.pem", str(certificate))
    text = text.replace("/etc/ssl/sandbox.example.org/privkey.pem", str(key))
    file = tmp_path / "nginx.conf"
    # Folders that Debian's package makes, for its programs of every kind.
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{kind}_temp_path {tmp_path}/{kind};" for kind in kinds)
    text = text.replace("http {", f"http {{ {temporary}", 1)
    file.write_text(text.replace("/var/log/nginx", str(tmp_path)))
    command = [program, "-t", "-c", str(file), "-g", f"pid {tmp_path}/pid;", "-e", "stderr"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert 0 == done.returncode, done.stderr


def test_caddy_takes_its_file() -> None:
    program = shutil.which("caddy")
    if program is None:
        pytest.skip("caddy is not installed: apt-get install caddy")
    command = [program, "validate", "--config", str(FOLDER / "Caddyfile"), "--adapter", "caddyfile"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert 0 == done.returncode, done.stderr
