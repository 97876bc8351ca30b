#!/usr/bin/env python3
"""What a prompt lacks of parts of content, and where it has them: images and their placeholders, parts that templates print as data or refuse.

    run_parts_tests.py path/to/parlance
"""

import json
import sys

import check
from loss_commands import ONLY_TEXT, PARTS, losses, run, user


def placeholders(template, request, *options):
    answer = json.loads(run(template, request, "--json", *options).stdout)
    text = answer["text"].encode()
    return [(one["path"], text[one["begin"]:one["end"]].decode()) for one in answer["placeholders"]]


def test_images_have_placeholders_where_the_template_fails_without_them():
    first = "{% for m in messages %}{{ ':' if m.content[0].type == 'image' else ': ' }}{% for p in m.content %}" \
            "{{ p.text if p.type == 'text' else '<img>' }}{% endfor %}|{% endfor %}"
    picture, words = {"type": "image", "image": "x"}, {"type": "text", "text": "<img>"}
    for content in ([picture], [picture] * 3, [picture, words, picture]):
        expected = [(f"messages[0].content[{i}]", "<img>") for i, part in enumerate(content) if part is picture]
        assert placeholders(first, user(content)) == expected, (content, placeholders(first, user(content)))
    # two parts are sorted, and no others
    ordered = PARTS.replace("in m.content %}{% if p", "in (m.content | sort(attribute='type') if m.content | length == 2 else m.content) %}{% if p")
    assert ordered != PARTS
    found = placeholders(ordered, user([words, picture, picture]))
    assert found == [("messages[0].content[1]", "<img>"), ("messages[0].content[2]", "<img>")], found


def test_a_part_that_is_printed_as_text_has_no_placeholder():
    printed = PARTS.replace("<img>", "[{{ p.document.data | tojson }}]")
    document = {"type": "document", "document": {"data": {"title": "Tides", "text": "Twice"}}}
    assert placeholders(printed, user([document])) == losses(printed, user([document])) == []
    document["document"]["more"] = "Moon"
    assert losses(printed, user([document])) == [("lost", "part", "messages[0].content[0].document.more")]


def test_a_part_of_a_type_that_nobody_knows_is_searched_for_all_it_says():
    shown = PARTS.replace("p.type == 'text'", "p.text")
    note = {"type": "note", "text": "Hi", "title": "Read me", "id": "7", "tags": []}
    found = losses(shown, user([note]))
    assert found == [("lost", "part", "messages[0].content[0].title"), ("left out", "id", "messages[0].content[0].id")], found
    assert losses(shown, user([{"type": "input_text", "text": "Hi", "annotations": [{"title": "x"}]}])) == []


def test_parts_of_unknown_types_are_refused_where_content_is_one_text():
    bare = "{% for m in messages %}{{ m.content.strip() }}{% endfor %}"
    for part, name in (({"type": "document_url", "document_url": "https://x/a.pdf"}, "document_url"), ({"type": "resource", "resource": {"text": "r"}}, "resource")):
        request = user([{"type": "input_text", "text": "aaa"}, part])
        done = run(bare, request)
        assert done.returncode == 3 and f"no place for a part of the type {name}" in done.stderr, done
        assert "input: messages[0].content[1]\n" in done.stderr and "--pass text-only" in done.stderr, done
        done = run(bare, request, "--pass", "text-only")
        assert (done.returncode, done.stdout) == (0, "aaa") and "messages[0].content[1]: left out" in done.stderr, done


def test_images_of_ollama():
    request = {"messages": [{"role": "user", "content": "Hi", "images": ["QUJD"]}]}
    shows = "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}" \
            "{{ '<img>' if p.type == 'image' else p.text }}{% endfor %}{% endif %}{% endfor %}"
    done = json.loads(run(shows, request, "--json").stdout)
    assert (done["text"], done["losses"]) == ("<img>Hi", []), done
    assert [(p["begin"], p["end"], p["path"]) for p in done["placeholders"]] == [(0, 5, "messages[0].images[0]")], done
    own = json.loads(run("{% for m in messages %}{{ m.images | length }}{{ m.content }}{% endfor %}", request, "--json").stdout)
    assert (own["text"], own["losses"]) == ("1Hi", []), own
    refused = run(ONLY_TEXT, request)
    assert refused.returncode == 3 and "input: messages[0].images[0]" in refused.stderr, refused
    without = run(ONLY_TEXT, request, "--pass", "text-only")
    assert without.returncode == 0 and "messages[0].images" in without.stderr, without


def test_placeholders_are_not_what_somebody_typed():
    url = {"type": "image_url", "image_url": {"url": "http://x/y"}}
    done = run(PARTS, user([{"type": "text", "text": "<img>"}, url, url, {"type": "text", "text": "<img>"}]), "--json", "--no-adapt")
    result = json.loads(done.stdout)
    assert result["text"] == "<img>" * 4 and result["losses"] == [], result
    assert [(one["begin"], one["end"], one["path"]) for one in result["placeholders"]] == [
        (5, 10, "messages[0].content[1]"), (10, 15, "messages[0].content[2]")], result["placeholders"]


def test_a_tag_in_place_of_a_text_is_all_of_it():
    for content, images, tags in (("x [img] y [img]", 2, ["[img-0]", "[img-1]"]), ("[img][img", 1, ["[img-0]"]), ("x", 2, ["[img-0]", "[img-1]"])):
        request = {"messages": [{"role": "user", "content": content, "images": ["aGk="] * images}]}
        result = json.loads(run("{{ range .Messages }}{{ .Content }}{{ end }}", request, "--json", "--syntax", "go").stdout)
        assert [result["text"][one["begin"]:one["end"]] for one in result["placeholders"]] == tags, result
        assert result["losses"] == [], result


def test_each_image_of_a_go_template_has_its_tag_or_is_lost():
    first, second, third = "messages[0].images[0]", "messages[0].images[1]", "messages[1].images[0]"
    plain = "{{ range .Messages }}{{ .Content }}|{{ end }}"
    for template in (plain, "{{ range .Messages }}{{ if .Images }}<IMG>{{ end }}{{ .Content }}|{{ end }}",
                     "{{ range .Messages }}{{ if .Images }}{{ index .Images 0 }}{{ end }}{{ .Content }}|{{ end }}",
                     "{{ range .Messages }}{{ range .Images }}<IMG>{{ end }}{{ .Content }}|{{ end }}"):
        for content, order in (("x", [first, second]), ("x [img] y", [second, first]), ("[img] x [img]", [first, second])):
            request = {"messages": [{"role": "user", "content": content, "images": ["aGk=", "aG8="]},
                                    {"role": "user", "content": "z", "images": ["aGk="]}]}
            found = placeholders(template, request, "--syntax", "go")
            assert [path for path, _ in found] == [*order, third], (template, content, found)
            tags = {first: "[img-0]", second: "[img-1]", third: "[img-2]"}
            assert all(tags[path] in text for path, text in found), (template, content, found)
            assert template != plain or found == [(path, tags[path]) for path in [*order, third]], found
    # A text that has a tag gets no others, and its images do not count.
    request = {"messages": [{"role": "user", "content": "[img-0]", "images": ["aGk=", "aG8="]}, {"role": "user", "content": "z", "images": ["aGk="]}]}
    assert placeholders(plain, request, "--syntax", "go") == [(third, "[img-0]")], request
    assert [path for _, _, path in losses(plain, request, "--syntax", "go")] == [first, second], request


def test_a_list_printed_as_data():
    image = {"type": "image_url", "image_url": {"url": "http://x/y"}}
    found = losses("{% for m in messages %}{{ m.content }}{% endfor %}", user([{"type": "text", "text": "Hi"}, image]), "--no-adapt")
    assert ("lost", "data", "messages[0].content[0]") in found, found


def test_data_printed_as_python_writes_it():
    """Objects and lists that have no type: {'a': 'b'} is named, JSON is not."""
    printed = "{% for m in messages %}{{ m.content }}{% endfor %}"
    trimmed = "{% for m in messages %}{{ '[' + m.content | trim + ']' }}{% endfor %}"
    parts = "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}{{ p }};{% endfor %}{% endif %}{% endfor %}"
    in_json = "{% for m in messages %}{{ m.content | tojson }}{% endfor %}"
    place = "messages[0].content"
    for template, content, path in ((printed, {"res": "X"}, place), (trimmed, {"res": "X"}, place), (printed, {"n": {"res": "X"}}, place), (printed, [{"res": "X"}], place + "[0]"),
                                    (parts, [{"res": 1}], place + "[0]"), (parts, ["a", ["b"]], place + "[1]")):
        for role in ("user", "tool"):
            found = losses(template, {"messages": [{"role": role, "content": content}]}, "--no-adapt")
            assert found == [("lost", "data", path)], (template, content, found)
        assert losses(in_json, user(content), "--no-adapt") == [], content
    for text in ("{'res': 'X'}", json.dumps({"res": "X'"})):
        assert losses(printed, user(text)) == [], text
    assert losses(parts, user(["'quoted'"]), "--no-adapt") == [], "a text"
    assert run(printed, user({"res": "X"}), "--no-adapt", "--strict").returncode == 1


ANTHROPIC = {"max_tokens": 9, "system": "S", "messages": [
    {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image", "source": {"type": "url", "url": "http://x/y"}}]},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "t", "signature": "c2ln"}, {"type": "text", "text": "b"}, {"type": "text", "text": "c"},
                                      {"type": "tool_use", "id": "c1", "name": "look", "input": {"place": "Lima"}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "d"}, {"type": "text", "text": "e"}]}]}]}
RESPONSES = {"input": [{"role": "user", "content": [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "http://x/y"}]}]}
GEMINI = {"contents": [{"role": "user", "parts": [{"text": "a"}, {"text": "b"}]}]}


def test_parts_of_other_apis_printed_as_data():
    """What a list of their parts becomes is no better than a list of OpenAI's."""
    places = {0: ["messages[0].content[0]", "messages[0].content[1]", "messages[1].content[1]", "messages[1].content[2]",
                  "messages[2].content[0].content[0]", "messages[2].content[0].content[1]"],
              1: ["input[0].content[0]", "input[0].content[1]"], 2: ["contents[0].parts[0]", "contents[0].parts[1]"]}
    for number, request in enumerate((ANTHROPIC, RESPONSES, GEMINI)):
        for shown in ("{{ m.content }}", "{{ m.content | tojson }}"):
            found = losses("{% for m in messages %}" + shown + "{% endfor %}", request, "--no-adapt")
            assert [path for _, subject, path in found if subject == "data"] == places[number], (shown, found)
        done = run("{% for m in messages %}{{ m.content }}{% endfor %}", request, "--no-adapt", "--strict")
        assert done.returncode == 1 and "printed as data, with braces" in done.stderr, done
        shown = losses(PARTS, request, "--no-adapt")
        assert not [one for one in shown if one[1] == "data"], shown


def test_data_in_a_part_printed_as_python_writes_it():
    inside = "{% for m in messages %}{% for p in m.content %}{{ p.chart or p.text }}{% endfor %}{% endfor %}"
    chart, text = {"type": "chart", "chart": {"title": "X", "at": ["Y"]}}, {"type": "text", "text": "Z"}
    found = losses(inside, user([chart, text]), "--no-adapt")
    assert found == [("lost", "data", "messages[0].content[0]")], found
    assert losses(inside.replace("p.chart or", "p.chart | tojson if p.chart else"), user([chart, text]), "--no-adapt") == []


def test_a_part_that_makes_the_template_fail_is_named():
    """Of whatever type, wherever it stands: the template's own words, and which part they are about."""
    raises = "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}{% if p.type == 'text' %}{{ p.text }}" \
             "{% elif p.type == 'image' %}<img>{% else %}{{ raise_exception('Unexpected type') }}{% endif %}{% endfor %}{% endif %}{% endfor %}"
    fails = raises.replace("raise_exception('Unexpected type')", "1 // 0")
    text, hologram = {"type": "text", "text": "a"}, {"type": "hologram", "hologram": {"data": "x"}}
    image, note, bare = {"type": "image", "image": "x"}, {"type": "note", "text": "n"}, {"kind": "x"}
    for parts, at, kind in (([text, hologram], 1, "hologram"), ([hologram, text, hologram], 0, "hologram"), ([text, image, image, hologram, image], 3, "hologram"),
                            ([text, note], 1, "note"), ([image, text, bare, text, hologram], 2, None), ([text] * 9 + [image] * 9 + [hologram], 18, "hologram")):
        for before in ([], [{"role": "user", "content": [text, image]}, {"role": "assistant", "content": "b"}]):
            request = {"messages": [*before, {"role": "user", "content": parts}]}
            place = f"messages[{len(before)}].content[{at}]" + (".type" if kind else "")
            for template in (raises, fails):
                for options in ((), ("--json",), ("-q",), ("--no-adapt",)):
                    done = run(template, request, *options)
                    assert done.returncode == 1 and (f"of the type '{kind}'" in done.stderr) == bool(kind), (parts, done)
                    assert f"input: {place}\n" in done.stderr and "without this part" in done.stderr, (parts, done)
            hint = "a text is a part of the type text" if parts[at] is note else "--pass text-only leaves such parts out"
            assert hint in run(raises, request).stderr, (parts, hint)
            error = json.loads(run(raises, [request], "--jsonl", lines=True).stdout)["error"]
            assert (error["code"], error["path"]) == ("raised", place) and "Unexpected type" in error["message"], error
    left = run(raises, user([text, hologram]), "--pass", "text-only")
    assert left.returncode == 0 and "messages[0].content[1]: left out" in left.stderr, left
    # not what fails without its parts as well
    done = run("{{ raise_exception('Never') }}", user([text, hologram]))
    assert "input:" not in done.stderr and "without this part" not in done.stderr, done
    done = run(raises, {"messages": [{"role": "user", "content": [text]}, {"role": "user", "content": [{**text, "type": "x"}]}]}, "--max-steps", "10")
    assert done.returncode == 4 and "without this part" not in done.stderr, done


def test_images_are_given_as_the_template_knows_them_or_refused():
    url = {"type": "image_url", "image_url": {"url": "http://x/y"}}
    request = user([{"type": "text", "text": "a"}, url, {"type": "text", "text": "b"}])
    named = PARTS.replace("else %}<img>", "elif p.type == 'image' %}<img>")
    for template in (PARTS, named):
        done = run(template, request)
        assert (done.stdout, done.stderr, done.returncode) == ("a<img>b", "", 0), done
    plain = "{% for m in messages %}{{ m.content }}{% endfor %}"
    done = run(plain, request)
    assert done.returncode == 3 and done.stdout == "" and "no place for a part of the type image_url" in done.stderr, done
    assert "--pass text-only" in done.stderr and "messages[0].content[1]" in done.stderr, done
    done = run(plain, request, "--pass", "text-only")
    assert done.stdout == "a\nb" and done.stderr.startswith("note: messages[0].content[1]: left out, since it is not text"), done
    assert run(plain, request, "--no-adapt").stdout.startswith("[{'type'")


if __name__ == "__main__":
    sys.exit(check.run_tests(sys.modules[__name__], "tests of parts"))
