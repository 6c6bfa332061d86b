"""The specification's table of parameter styles, as it stands on the wire (OpenAPI 3.1.1 §4.8.12, RFC 6570)."""

from __future__ import annotations

from typing import Any

import pytest
from api_service import service
from openapi_helpers import called, document

pytestmark = [pytest.mark.anyio, pytest.mark.proves("openapi.styles")]

ARRAY = ["blue", "black", "brown"]
OBJECT = {"R": 100, "G": 200, "B": 150}

PATH = [
    ("matrix", False, "", ";color"),
    ("matrix", False, "blue", ";color=blue"),
    ("matrix", False, ARRAY, ";color=blue,black,brown"),
    ("matrix", False, OBJECT, ";color=R,100,G,200,B,150"),
    ("matrix", True, "", ";color"),
    ("matrix", True, "blue", ";color=blue"),
    ("matrix", True, ARRAY, ";color=blue;color=black;color=brown"),
    ("matrix", True, OBJECT, ";R=100;G=200;B=150"),
    ("label", False, "blue", ".blue"),
    ("label", False, ARRAY, ".blue,black,brown"),
    ("label", False, OBJECT, ".R,100,G,200,B,150"),
    ("label", True, ARRAY, ".blue.black.brown"),
    ("label", True, OBJECT, ".R=100.G=200.B=150"),
    ("simple", False, "blue", "blue"),
    ("simple", False, ARRAY, "blue,black,brown"),
    ("simple", False, OBJECT, "R,100,G,200,B,150"),
    ("simple", True, ARRAY, "blue,black,brown"),
    ("simple", True, OBJECT, "R=100,G=200,B=150"),
    ("simple", False, "a/b?c#d&e;f=g,h%i j~é", "a%2Fb%3Fc%23d%26e%3Bf%3Dg%2Ch%25i%20j~%C3%A9"),
    ("simple", False, ["a,b", "c/d"], "a%2Cb,c%2Fd"),
    ("simple", False, True, "true"),
    ("simple", False, 1.5, "1.5"),
    ("simple", False, -0.0, "-0.0"),
    ("simple", False, 12345678901234567890, "12345678901234567890"),
]

QUERY = [
    ("form", True, "", "color="),
    ("form", True, "blue", "color=blue"),
    ("form", True, ARRAY, "color=blue&color=black&color=brown"),
    ("form", True, OBJECT, "R=100&G=200&B=150"),
    ("form", False, ARRAY, "color=blue,black,brown"),
    ("form", False, OBJECT, "color=R,100,G,200,B,150"),
    ("form", True, [], ""),
    ("form", True, {}, ""),
    ("form", True, None, ""),
    ("form", True, "a b+c&d=e#f?g/h%20", "color=a%20b%2Bc%26d%3De%23f%3Fg%2Fh%2520"),
    ("form", False, ["a,b", "c"], "color=a%2Cb,c"),
    ("form", True, {"a&b": "c=d"}, "a%26b=c%3Dd"),
    ("spaceDelimited", False, ARRAY, "color=blue%20black%20brown"),
    ("spaceDelimited", False, OBJECT, "color=R%20100%20G%20200%20B%20150"),
    ("spaceDelimited", True, ARRAY, "color=blue&color=black&color=brown"),
    ("pipeDelimited", False, ARRAY, "color=blue%7Cblack%7Cbrown"),
    ("pipeDelimited", False, OBJECT, "color=R%7C100%7CG%7C200%7CB%7C150"),
    ("pipeDelimited", True, ARRAY, "color=blue&color=black&color=brown"),
    ("deepObject", True, OBJECT, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
    ("deepObject", True, {"a": {"b": 1}}, "color%5Ba%5D%5Bb%5D=1"),
    ("deepObject", True, ["x", "y"], "color%5B%5D=x&color%5B%5D=y"),
    ("deepObject", True, [{"a": 1}, {"a": 2}], "color%5B0%5D%5Ba%5D=1&color%5B1%5D%5Ba%5D=2"),
    ("deepObject", True, {"a": None}, ""),
    ("deepObject", True, {"a]&b": "1"}, "color%5Ba%5D%26b%5D=1"),
]

HEADER = [
    (False, "blue", "blue"),
    (False, ARRAY, "blue,black,brown"),
    (False, OBJECT, "R,100,G,200,B,150"),
    (True, OBJECT, "R=100,G=200,B=150"),
    (False, "a b%c", "a b%c"),
]

COOKIE = [
    (True, "blue", "color=blue"),
    (False, ARRAY, "color=blue,black,brown"),
    (True, ARRAY, "color=blue; color=black; color=brown"),
    (False, OBJECT, "color=R,100,G,200,B,150"),
    (True, "a; b=c", "color=a%3B%20b%3Dc"),
]


def parameter(place: str, **said: Any) -> dict[str, Any]:
    return {"name": "color", "in": place, "required": place == "path", "schema": {}, **said}


@pytest.mark.parametrize(("style", "explode", "value", "expected"), PATH)
async def test_a_path(style: str, explode: bool, value: Any, expected: str) -> None:
    async with service() as api:
        spec = document(api, "/x/{color}/y", parameters=[parameter("path", style=style, explode=explode)])
        await called(spec, {"color": value})
        assert api.last.target == f"/x/{expected}/y"


@pytest.mark.parametrize(("style", "explode", "value", "expected"), QUERY)
async def test_a_query(style: str, explode: bool, value: Any, expected: str) -> None:
    async with service() as api:
        spec = document(api, "/x", parameters=[parameter("query", style=style, explode=explode)])
        await called(spec, {"color": value})
        assert api.last.target == (f"/x?{expected}" if expected else "/x")


@pytest.mark.parametrize(("explode", "value", "expected"), HEADER)
async def test_a_header(explode: bool, value: Any, expected: str) -> None:
    async with service() as api:
        spec = document(api, "/x", parameters=[parameter("header", explode=explode)])
        await called(spec, {"color": value})
        assert api.last.header("color") == expected


@pytest.mark.parametrize(("explode", "value", "expected"), COOKIE)
async def test_a_cookie(explode: bool, value: Any, expected: str) -> None:
    async with service() as api:
        spec = document(api, "/x", parameters=[parameter("cookie", explode=explode)])
        await called(spec, {"color": value})
        assert api.last.header("cookie") == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("http://a/b?c=d,e;f", "http://a/b?c=d,e;f"),
        ("a&b=c#d+e", "a%26b=c%23d%2Be"),
        ("50%25 %zz", "50%25%20%25zz"),
    ],
)
async def test_reserved_characters_stay_where_they_cannot_end_the_value(value: str, expected: str) -> None:
    async with service() as api:
        spec = document(api, "/x", parameters=[parameter("query", allowReserved=True)])
        await called(spec, {"color": value})
        assert api.last.target == f"/x?color={expected}"


@pytest.mark.parametrize("place", ["path", "query", "header", "cookie"])
async def test_content_of_json_is_sent_as_json_in_one_piece(place: str) -> None:
    async with service() as api:
        spec = document(
            api,
            "/x/{color}" if place == "path" else "/x",
            parameters=[
                {"name": "color", "in": place, "required": True, "content": {"application/json": {"schema": {}}}}
            ],
        )
        await called(spec, {"color": {"a": [1, None]}})
        sent = api.last
    encoded = "%7B%22a%22%3A%5B1%2Cnull%5D%7D"
    assert {
        "path": sent.target == f"/x/{encoded}",
        "query": sent.target == f"/x?color={encoded}",
        "header": sent.header("color") == '{"a":[1,null]}',
        "cookie": sent.header("cookie") == f"color={encoded}",
    }[place]
