"""Passwords and tokens: from the environment or from a file that it names, and never shown.

They are asked for where a connection is made, and handed on at once; no setting, plan or state has
them in it.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
from collections.abc import Mapping
from pathlib import Path

from horai.io.letters import InputError

FILE = "_FILE"
METRICS = "HORAI_METRICS_TOKEN"
SERVE = "HORAI_SERVE_TOKEN"
SOCKET = "HORAI_SOCKET_TOKEN"
WEBHOOK = "HORAI_WEBHOOK_TOKEN"
KAFKA = "HORAI_KAFKA_"
BEARER = "Bearer "

_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
# What the client in C calls a setting; those that are secret may be in a file.
_CLIENT = {
    "SECURITY_PROTOCOL": "security.protocol",
    "SASL_MECHANISM": "sasl.mechanism",
    "USERNAME": "sasl.username",
    "PASSWORD": "sasl.password",
    "CA": "ssl.ca.location",
    "CERT": "ssl.certificate.location",
    "KEY": "ssl.key.location",
    "KEY_PASSWORD": "ssl.key.password",
}
_SECRET = ("PASSWORD", "KEY_PASSWORD")
_LOGIN = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}


def secret(name: str, given: Mapping[str, str] = os.environ) -> str | None:
    """The value of a variable, or of the file that the one with `_FILE` behind its name names."""
    if given.get(name):
        return given[name]
    place = given.get(name + FILE)
    if not place:
        return None
    try:
        found = Path(place).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or "it is no text"
        raise InputError(place, f"{name}{FILE} cannot be read: {said}") from None
    if not found:
        raise InputError(place, f"{name}{FILE} is empty", hint="write the secret into it")
    return found


def is_loopback(host: str) -> bool:
    """Can only this machine reach an address?"""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_bearer(said: str | None, token: str) -> bool:
    """Does somebody know the token? How long that takes to say tells nothing about it."""
    return hmac.compare_digest((said or "").encode("utf-8", "replace"), (BEARER + token).encode())


def kafka_client(given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """How the client in C proves who it is to a broker, and the broker to it."""
    return {_CLIENT[name]: value for name, value in _kafka(given).items()}


def kafka_spark(given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The same for Spark's connector, whose client is in Java."""
    told = _kafka(given)
    found = {}
    if "SECURITY_PROTOCOL" in told:
        found["kafka.security.protocol"] = told["SECURITY_PROTOCOL"]
    if "USERNAME" in told:
        found["kafka.sasl.mechanism"] = told["SASL_MECHANISM"]
        user, word = _quoted(told["USERNAME"]), _quoted(told["PASSWORD"])
        module = _LOGIN[told["SASL_MECHANISM"]]
        found["kafka.sasl.jaas.config"] = f"{module} required username={user} password={word};"
    if "CA" in told:
        found["kafka.ssl.truststore.type"] = "PEM"
        found["kafka.ssl.truststore.certificates"] = _content("CA", told["CA"])
    if "CERT" in told:
        found["kafka.ssl.keystore.type"] = "PEM"
        found["kafka.ssl.keystore.certificate.chain"] = _content("CERT", told["CERT"])
        found["kafka.ssl.keystore.key"] = _content("KEY", told["KEY"])
        if "KEY_PASSWORD" in told:
            found["kafka.ssl.key.password"] = told["KEY_PASSWORD"]
    return found


def _kafka(given: Mapping[str, str]) -> dict[str, str]:
    """The settings of brokers in the environment; those that do not fit together are named."""
    told = {name: given[KAFKA + name] for name in _CLIENT if given.get(KAFKA + name)}
    for name in _SECRET:
        found = secret(KAFKA + name, given)
        if found is not None:
            told[name] = found
    if "USERNAME" in told or "PASSWORD" in told:
        told.setdefault("SASL_MECHANISM", "PLAIN")
        told.setdefault("SECURITY_PROTOCOL", "SASL_SSL")
    elif "CA" in told or "CERT" in told:
        told.setdefault("SECURITY_PROTOCOL", "SSL")
    protocol, mechanism = told.get("SECURITY_PROTOCOL"), told.get("SASL_MECHANISM")
    if protocol is not None and protocol not in _PROTOCOLS:
        raise _wrong("SECURITY_PROTOCOL", f"is none of {', '.join(_PROTOCOLS)}")
    if mechanism is not None and mechanism not in _LOGIN:
        raise _wrong("SASL_MECHANISM", f"is none of {', '.join(_LOGIN)}")
    if protocol is not None and protocol.startswith("SASL"):
        for name in ("USERNAME", "PASSWORD"):
            if name not in told:
                raise _wrong(name, f"is not set, and {protocol} needs it")
    elif "USERNAME" in told or "PASSWORD" in told:
        raise _wrong("SECURITY_PROTOCOL", f"is {protocol}, which sends no password")
    if ("CERT" in told) != ("KEY" in told):
        absent = "KEY" if "CERT" in told else "CERT"
        raise _wrong(absent, "is not set: a certificate and its key go together")
    for name in ("CA", "CERT", "KEY"):
        if name in told:
            _content(name, told[name])
    return told


def _content(name: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or "it is no PEM file"
        raise _wrong(name, f"names {path}, which cannot be read: {said}") from None


def _wrong(name: str, problem: str) -> InputError:
    hint = "docs/kafka.md says which variables go together"
    return InputError("the environment", f"{KAFKA}{name} {problem}", hint=hint)


def _quoted(text: str) -> str:
    """A text as Java's configuration of logins reads it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
