"""Passwords and tokens, who may connect, and what people see of what strangers wrote."""

import socket
from contextlib import closing
from pathlib import Path
from queue import Empty

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horai.io import InputError, TimeScale
from horai.io.secrets import KAFKA, is_loopback, kafka_client, kafka_spark, secret
from horai.io.shown import printable, redacted, shortened
from horai.io.sources import protocol
from horai.io.sources.kafka import client_of, topic_of
from horai.io.sources.registry import Incoming, sink_of
from horai.runtime.lars.signals import AnySignals, LineReader

WORD = 'pl"an\\ted'


def of(**given: str) -> dict[str, str]:
    return {KAFKA + name: value for name, value in given.items()}


def test_without_settings_nothing_is_said() -> None:
    assert kafka_client({}) == kafka_spark({}) == {}


def test_user_and_password() -> None:
    given = of(USERNAME="me", PASSWORD=WORD, SASL_MECHANISM="SCRAM-SHA-512")
    assert kafka_client(given) == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "me",
        "sasl.password": WORD,
    }
    assert kafka_spark(given) == {
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.mechanism": "SCRAM-SHA-512",
        "kafka.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule "
        'required username="me" password="pl\\"an\\\\ted";',
    }


def test_certificates(tmp_path: Path) -> None:
    paths = {name: tmp_path / name for name in ("CA", "CERT", "KEY")}
    for name, path in paths.items():
        path.write_text(f"-- {name} --")
    given = of(**{name: str(path) for name, path in paths.items()}, KEY_PASSWORD=WORD)
    assert kafka_client(given) == {
        "security.protocol": "SSL",
        "ssl.ca.location": str(paths["CA"]),
        "ssl.certificate.location": str(paths["CERT"]),
        "ssl.key.location": str(paths["KEY"]),
        "ssl.key.password": WORD,
    }
    assert kafka_spark(given) == {
        "kafka.security.protocol": "SSL",
        "kafka.ssl.truststore.type": "PEM",
        "kafka.ssl.truststore.certificates": "-- CA --",
        "kafka.ssl.keystore.type": "PEM",
        "kafka.ssl.keystore.certificate.chain": "-- CERT --",
        "kafka.ssl.keystore.key": "-- KEY --",
        "kafka.ssl.key.password": WORD,
    }


def test_a_secret_may_be_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "word").write_text(f"{WORD}\n")
    given = of(USERNAME="me", PASSWORD_FILE=str(tmp_path / "word"))
    assert kafka_client(given)["sasl.password"] == WORD
    assert secret("T", {"T_FILE": str(tmp_path / "word")}) == WORD
    for name in ("nowhere", "empty"):
        (tmp_path / "empty").write_text("\n")
        with pytest.raises(InputError, match="T_FILE"):
            secret("T", {"T_FILE": str(tmp_path / name)})


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (of(USERNAME="me"), "PASSWORD is not set"),
        (of(PASSWORD=WORD), "USERNAME is not set"),
        (of(SECURITY_PROTOCOL="SSH"), "SECURITY_PROTOCOL is none of"),
        (of(SECURITY_PROTOCOL="SSL", USERNAME="me", PASSWORD=WORD), "sends no password"),
        (of(SASL_MECHANISM="MD5", USERNAME="me", PASSWORD=WORD), "SASL_MECHANISM is none of"),
        (of(CERT="a"), "KEY is not set"),
        (of(KEY="a"), "CERT is not set"),
        (of(CA="nowhere"), "nowhere, which cannot be read"),
    ],
)
def test_what_does_not_fit_together_is_told(given: dict[str, str], problem: str) -> None:
    for settings in (kafka_client, kafka_spark):
        with pytest.raises(InputError, match=problem) as told:
            settings(given)
        assert WORD not in str(told.value)


def test_clients_get_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in of(USERNAME="me", PASSWORD=WORD).items():
        monkeypatch.setenv(name, value)
    found = client_of(topic_of("kafka://h:1/t"))
    assert (found["sasl.password"], found["bootstrap.servers"]) == (WORD, "h:1")


def test_a_topic_has_no_password_in_its_name() -> None:
    with pytest.raises(InputError, match="without user and password") as told:
        topic_of("kafka://me:planted@host:9092/items")
    assert "planted" not in repr(vars(told.value)) + str(told.value)


# --- who may connect --------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.9.9.9"])
def test_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "", "::", "10.0.0.1", "localhost.example.org"])
def test_other_machines(host: str) -> None:
    assert not is_loopback(host)


def test_sockets_for_others_need_a_token() -> None:
    with pytest.raises(InputError, match="a token is needed"):
        Incoming(["socket:0.0.0.0:0"], lambda told: None)
    with pytest.raises(InputError, match="a token is needed"):
        sink_of("socket:0.0.0.0:0", lambda told: None)


def port_of(told: list[str]) -> int:
    return int(told[-1].rpartition(":")[2])


def test_who_sends_says_the_token_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HORAI_SOCKET_TOKEN", "planted")
    told: list[str] = []
    incoming = Incoming(["socket:0.0.0.0:0"], told.append)
    for first in ("up|1|1", "Bearer other", "Bearer planted"):
        with socket.create_connection(("127.0.0.1", port_of(told))) as connection:
            connection.sendall(f"{first}\nup|2|2\n".encode())
    line = incoming.next(5)
    assert line is not None and line.text == "up|2|2"
    with pytest.raises(Empty):
        incoming.next(0.2)


def test_a_line_without_an_end_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only its beginning is, and what comes after it is read."""
    monkeypatch.setattr(protocol, "LONGEST_LINE", 1000)
    told: list[str] = []
    incoming = Incoming(["socket:0"], told.append)
    long = ["x" * length for length in (999, 1000, 1001, 2000, 5000)]
    with socket.create_connection(("127.0.0.1", port_of(told))) as connection:
        connection.sendall("".join(f"{text}\n" for text in [*long, "up|2|2"]).encode())
    found = [incoming.next(5) for _ in range(6)]
    lines = [line for line in found if line is not None]
    assert [line.number for line in lines] == [1, 2, 3, 4, 5, 6]
    assert [line.is_too_long for line in lines] == [False, False, True, True, True, False]
    assert [len(line.text) for line in lines] == [999, 1000, 200, 200, 200, 6]
    reader = LineReader(AnySignals.known(()), TimeScale())
    assert list(reader.rows(lines[2:5])) == []
    assert {letter.code for letter in reader.dead_letters} == {"too-long"}


def test_who_listens_says_the_token_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HORAI_SOCKET_TOKEN", "planted")
    told: list[str] = []
    sink = sink_of("socket:0.0.0.0:0", told.append)
    place = ("127.0.0.1", port_of(told))
    with (
        closing(socket.create_connection(place)) as bad,
        closing(socket.create_connection(place)) as good,
    ):
        bad.sendall(b"Bearer other\n")
        good.sendall(b"Bearer planted\n")
        assert bad.recv(10) == b""
        while not sink.clients:  # type: ignore[attr-defined]
            pass
        sink.write("an answer\n")
        assert good.recv(10) == b"an answer\n"


# --- what people see --------------------------------------------------------------------------


@given(st.text())
def test_nothing_steers_a_terminal(text: str) -> None:
    for shown in (printable(text), shortened(text), shortened(text, 5)):
        assert not set(shown) & {
            chr(code) for code in (*range(9), *range(11, 32), *range(127, 160))
        }
        assert not set(shown) & set("\u202a\u202e\u2066\u2069\u200f")
        shown.encode()


@given(st.text(max_size=20), st.integers(2, 30))
def test_what_is_short_enough_stays(text: str, limit: int) -> None:
    assert len(shortened(text, limit)) <= limit
    if len(text) <= limit and text.isprintable():
        assert shortened(text, limit) == text


def test_a_long_line_is_cut_before_it_is_looked_at() -> None:
    assert shortened("a" * 300_000, 100) == "a" * 99 + "…"


@pytest.mark.parametrize(
    "url",
    [
        *("kafka://u:planted@h:1/t", "http://planted@h/x", "https://h/x?token=planted"),
        *("http:/u:planted@h/x", "https:/h/x?token=planted", "tcp:u:planted@h:1"),
        *("socket:u:planted@h:1", "KAFKA://u:planted@h:1/t"),
    ],
)
def test_addresses_keep_their_secrets(url: str) -> None:
    error = InputError(url, f"{url!r} is wrong")
    assert "planted" not in str(error) + repr(vars(error)) + redacted(f"see {url}")
