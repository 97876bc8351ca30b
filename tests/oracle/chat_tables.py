"""Pieces as chat templates have them, and requests to go with them: tables that template_maker draws from.

Leans on nothing. In a piece, `@s@` is an expression of kind s in brackets where it needs them, `@s!@` one without,
`@body@` some pieces, `@captured@` the same where `break` may not leave. The dict of a row says which names the piece
gives its bodies, and their kinds; the signs of white space control are put in by the maker.
"""

# Columns: names for the bodies, text.
PIECES = [
    ({"message": "d"}, "{% for message in messages %}@body@{{ message.role }}{% endfor %}"),
    ({"message": "d"}, "{% for message in messages[@i!@:] %}@body@{% endfor %}"),
    ({"message": "d"}, "{% for message in messages[::-1] %}{{ loop.index0 }}@body@{% endfor %}"),
    ({"message": "d"}, "{% for message in messages if message.role != @s@ %}{{ loop.last }}@body@{% endfor %}"),
    ({"message": "d"}, "{% for message in messages if @b@ %}@body@{% else %}@body@{% endfor %}"),
    ({"message": "d"}, "{% for message in messages|selectattr('role', 'in', ['user', @s@]) %}@body@{% endfor %}"),
    ({"message": "d"}, "{% for message in messages %}{% if message.role == 'user' and loop.index0 % 2 == 0 %}@body@"
                       "{% elif message['role'] == \"assistant\" %}@body@{% else %}{{ raise_exception(@s!@) }}"
                       "{% endif %}{% endfor %}"),
    ({"message": "d"}, "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}@body@"
                       "{% endif %}{{ '<|' + message.role + '|>\\n' + message.content|trim + eos_token }}{% endfor %}"),
    ({"message": "d", "call": "d"},
     "{% for message in messages %}{% for call in message.tool_calls or [] %}{% set call = call.function %}"
     "{{ call.name }}{{ call.arguments|tojson if call.arguments is mapping else call.arguments }}@body@{% endfor %}"
     "{% endfor %}"),
    ({"part": "a"}, "{% for message in messages %}{% if message.content is string %}{{ message.content }}"
                    "{% elif message.content is iterable %}{% for part in message.content %}"
                    "{% if part.type == 'text' %}{{ part.text }}{% else %}@body@{% endif %}{% endfor %}{% endif %}"
                    "{% endfor %}"),
    ({"content": "s"}, "{% for message in messages %}{% set content = message.content if message.content is string "
                       "else '' %}{% if '</think>' in content %}{% set r = content.split('</think>')[0].rstrip('\\n')"
                       ".split('<think>')[-1].lstrip('\\n') %}{% set content = content.split('</think>')[-1] %}"
                       "[{{ r }}]{% endif %}{{ content }}@body@{% endfor %}"),
    ({}, "{% set ns = namespace(found=false, at=messages|length - 1) %}{% for message in messages[::-1] %}"
         "{% set index = messages|length - 1 - loop.index0 %}{% if not ns.found and message.role == 'user' %}"
         "{% set ns.found = true %}{% set ns.at = index %}{% endif %}{% endfor %}{{ ns.at }}{{ ns.found }}"),
    ({}, "{% set ns = namespace(a=@a@, b=@a@) %}{% set ns.a, ns.b = ns.b, ns.a %}{{ ns.a }}{{ ns.b }}{{ ns.c }}"),
    ({}, "{% set ns = namespace() %}{% set ns.v %}@captured@{% endset %}{{ ns.v|length }}{{ ns.v is escaped }}"),
    ({"p": "a", "q": "a"}, "{% set p, q = @a@, @a@ %}@body@"),
    ({"p": "a", "q": "a"}, "{% set p, q = @l@ %}@body@"),
    ({"p": "s", "q": "a"}, "{% for p, q in @d@.items() %}{{ loop.index }}{{ p }}@body@{% endfor %}"),
    ({"p": "s", "q": "a"}, "{% for p, q in @d@|items if q is not none %}@body@{{ ', ' if not loop.last }}{% endfor %}"),
    ({"p": "s", "q": "l"}, "{% for p, q in @l@|groupby('k') %}@body@{{ q|length }}{% endfor %}"),
    ({"p": "i", "q": "a"}, "{% for p, (q, r) in [(1, (2, 3)), (4, @s@[:2])] %}{{ r }}@body@{% endfor %}"),
    ({"row": "l"}, "{% for row in @l@|batch(@i@, @a@) %}{{ row|join('-') }}@body@{% endfor %}"),
    ({"t": "d"}, "{% for t in tree recursive %}{{ loop.depth }}{{ t.name }}{{ loop.index0 }}@body@"
                 "{% if t.kids %}({{ loop(t.kids) }}){% endif %}{% else %}none{% endfor %}"),
    ({"t": "d"}, "{% for t in tree if t.name != @s@ recursive %}{{ loop.last }}{{ t.name }}"
                 "{{ loop(t.kids)|upper if t.kids is defined }}@body@{% endfor %}"),
    ({"t": "d"}, "{% for t in tree recursive %}{% set inner = loop(t.kids or []) %}{{ inner|trim }}{{ t.name }}"
                 "{% endfor %}"),
    ({"x": "a"}, "{% for x in @l@ %}{{ loop.changed(x) }}{{ loop.cycle(1, @a@) }}{{ loop.previtem }}"
                 "{{ loop.nextitem is defined }}@body@{% endfor %}"),
    ({"x": "a"}, "{% for x in @l@ %}{% if loop.previtem is defined and loop.previtem == x %}@body@{% endif %}"
                 "{{ loop.revindex }}/{{ loop.length }}{% endfor %}"),
    ({"x": "a"}, "{% for x in @l@|reverse %}{{ loop.index }}{{ loop.last }}{{ loop.revindex0 }}@body@{% endfor %}"),
    ({"x": "a"}, "{% for x in @l@|map('string') %}{{ loop.length }}{% if loop.index > 1 %}{% break %}{% endif %}"
                 "{% endfor %}"),
    ({"x": "a"}, "{% for x in @l@ if x %}{% if loop.first %}{% continue %}{% endif %}{{ loop.nextitem }}@body@"
                 "{% endfor %}"),
    ({"x": "i"}, "{% for x in range(3) %}{% set outer = loop %}{% for y in range(x) %}{{ outer.index }}{{ loop.index }}"
                 "{{ outer.last }}{% endfor %}@body@{% endfor %}"),
    ({"x": "s"}, "{% for x in 'abc' %}{{ loop }}{{ loop|length }}{{ loop.index is odd }}{% endfor %}"),
    ({"a": "a", "b": "a"}, "{% macro show(a, b=@a@) %}{{ a }}{{ b }}{{ varargs }}{{ kwargs }}@body@{% endmacro %}"
                           "{{ show(@a@, @a@, @a@, k=@a@) }}{{ show(b=@a@, a=1) }}{{ show() }}"),
    ({"a": "a"}, "{% macro wrap(a='x') %}[{{ caller(a, 1) if caller is defined else a }}]{{ caller is defined }}"
                 "{% endmacro %}{% call(u, v=@a@) wrap(@a@) %}{{ u }}{{ v }}@captured@{% endcall %}{{ wrap() }}"),
    ({}, "{% macro m(a, b) %}{{ a }}{% endmacro %}{{ m.name }}{{ m.arguments }}{{ m.catch_kwargs }}{{ m.catch_varargs }}"
         "{{ m.caller }}{{ m(1, c=2) }}"),
    ({}, "{% macro m(a, b) %}{{ a }}{{ caller('q') }}{% endmacro %}{% call(x) m(*@l@) %}{{ x }}{% endcall %}"),
    ({}, "{% macro m(a=1, b=2) %}{{ a }}|{{ b }}{{ kwargs }}{% endmacro %}{{ m(**@d@) }}{{ m(*@l@, **{'z': 1}) }}"),
    ({"a": "l"}, "{% macro walk(a, depth=0) %}{% for e in a %}{{ depth }}{% if e is iterable and e is not string and "
                 "depth < 3 %}{{ walk(e, depth + 1) }}{% else %}{{ e }}{% endif %}{% endfor %}{% endmacro %}"
                 "{{ walk(@l@) }}"),
    ({}, "{% set text %}@captured@{% endset %}{{ text }}{{ text|length }}{{ text is escaped }}"),
    ({}, "{% set text|replace('a', @s@)|indent(2) %}@captured@{% endset %}[{{ text }}]"),
    ({"w": "a", "z": "a"}, "{% with w = @a@, z = @a@ %}@body@{{ w }}{% endwith %}"),
    ({"w": "a"}, "{% with %}{% set w = @a@ %}@body@{% endwith %}{{ w }}"),
    ({}, "{% filter replace(@s@, @s@) %}@captured@{% endfilter %}"),
    ({}, "{% filter indent(width=@i@, first=@b@)|trim %}@captured@{% endfilter %}"),
    ({}, "{% filter truncate(9, true, '~')|wordwrap(3) %}@captured@{% endfilter %}"),
    ({}, "{% autoescape true %}{{ @s@ }}{{ @s@|safe }}{{ @s@ ~ '<' }}{{ @l@|join('<') }}{{ '<%s>' % @s@ }}"
         "{{ (@s@|e + @s@)|upper }}{{ @d@|tojson }}{{ @a@|string is escaped }}@captured@{% endautoescape %}"),
    ({}, "{% autoescape true %}{% set t %}<{{ @s@ }}>{% endset %}{{ t }}{{ t is escaped }}{{ t|replace(@s@, '<') }}"
         "{% endautoescape %}{{ t }}"),
    ({}, "{% if messages[0].role == 'system' %}{% set first = messages[0].content %}{% set messages = messages[1:] %}"
         "{% else %}{% set first = @s@ %}{% endif %}{{ first }}{{ messages|length }}@body@"),
    ({"tool": "d"}, "{% for tool in tools %}{% set f = tool.function %}{{ f.name }}{% for p, s in "
                    "f.parameters.properties.items() %}{{ p }}: {{ s.type if s.type is string else s.type|join(' | ') "
                    "}}{{ '?' if p not in f.parameters.required }}{% endfor %}@body@{% endfor %}"),
    ({}, "{% if tools is defined and tools is not none and tools|length > 0 %}{{ tools|tojson(indent=2) }}@body@"
         "{% endif %}"),
    ({}, "{% for tool in tools %}{{ tool|tojson(sort_keys=true, ensure_ascii=@b@) }}\n{% endfor %}"),
    ({}, "{{ tools|map(attribute='function.name')|join(', ') }}{{ tools|map(attribute='function')|list|length }}"),
    ({}, "{{ bos_token }}{% if add_generation_prompt %}@body@{% endif %}"),
    ({}, "{% generation %}@captured@{% endgeneration %}{{ eos_token }}"),
    ({}, "{% for message in messages %}{% if message.role == 'assistant' %}{% generation %}{{ message.content }}"
         "{% endgeneration %}{% else %}{{ message.content }}{% endif %}{% endfor %}"),
    ({}, "{% raw %} {{ x }} {%- y %}\n{% endraw %}"), ({}, "{#- @ -#}"), ({}, "{# {{ @s!@ }} #}\n"),
    ({}, "{% raw %}\n{% endraw %}\n"), ({}, "{% if true %}\n{% endif %}\n  {% if true %} {% endif %}\t"),
    ({}, "  {%+ if @b@ %}  \n{%- endif +%}\n  "), ({}, "\n  {#+ c +#}\n"), ({}, "  {{- @s@ -}}  \n "),
    ({}, "{{ strftime_now('%Y-%m-%d %H:%M:%S %A %B %j %U %y %I %p %%') }}{{ strftime_now(@s!@) }}"),
    ({}, "{% set c = cycler('p', @a@) %}{{ c.next() }}{{ c.current }}{{ c.next() }}{{ c.pos }}{{ c.reset() }}"),
    ({}, "{% set j = joiner(@s@) %}{% for x in @l@ %}{{ j() }}{{ x }}{% endfor %}"),
    ({}, "{% block body %}@body@{% endblock %}{{ self.body() }}"),
    ({"x": "a"}, "{% for x in @l@ %}{% block inner scoped %}{{ x }}{{ loop.index }}@body@{% endblock %}{% endfor %}"),
    ({}, "{% macro a() %}{% set x = 1 %}{{ x }}{{ v1 }}{% endmacro %}{% set v1 = @a@ %}{{ a() }}{{ x is defined }}"),
    ({}, "{% for x in [1, 2] %}{% set seen = x %}{% endfor %}{{ seen }}{{ x }}{{ loop }}"),
    ({}, "{% set x = 1 %}{% for y in [1, 2] %}{% set x = x + y %}{{ x }}{% endfor %}{{ x }}"),
    ({}, "{% if @b@ %}{% set z1 = @a@ %}{% elif @b@ %}{% set z1 = 2 %}{% endif %}{{ z1 }}{{ z1 is undefined }}"),
]

# Columns: gives, text.
EXPRESSIONS = [
    ("s", "messages[@i@].content"), ("s", "messages[-1]['role']"), ("s", "(messages|last).content"),
    ("s", "messages[0].content.split(@s@)[0]"), ("s", "(@l@|first)|default(@s@, true)"),
    ("s", "@s@.split('\\n')|map('trim')|join('\\n')"), ("s", "@s@.replace(@s@, @s@).strip()"),
    ("s", "@d@|tojson(indent=@i@)"), ("s", "@a@|tojson(separators=(',', ':'))"), ("s", "@a@|tojson(indent=@s@)"),
    ("s", "@d@|dictsort(false, 'value')|map('first')|join"), ("s", "'%s: %r (%d)' % (@a@, @a@, @i@)"),
    ("s", "'%(a)s %(b)5.2f' % {'a': @a@, 'b': @f@}"), ("s", "'%s' % @a@"), ("s", "'{0} {1!r:>8} {k}'.format(@a@, @s@, k=@a@)"),
    ("s", "'{:{w}.{p}f}'.format(@f@, w=@i@, p=2)"), ("s", "'{0[k]} {0[key]}'.format(@d@)"), ("s", "'a' 'b' @s@"),
    ("s", "@s@ ~ @i@ ~ @f@ ~ @b@ ~ none"), ("s", "'\\x41\\u00e9\\101\\q' ~ @s@"), ("s", "@s@[::-1]"),
    ("s", "@s@[@i@:@i@:-1]"), ("s", "@s@.join(@l@|map('string'))"), ("s", "(@s@|e) ~ @s@"), ("s", "@s@|truncate(@i@)"),
    ("s", "@s@|indent(@i@, true)"), ("s", "@s@|replace('', '-')"), ("s", "@s@|center(@i@)|trim"), ("s", "@d@|xmlattr"),
    ("s", "@d@|urlencode"), ("s", "@s@|wordwrap(@i@, wrapstring=@s@)"), ("s", "(@s@|striptags)|title"),
    ("s", "@s@.translate({97: 'b', 98: none})"), ("s", "@s@.zfill(@i@) ~ @s@.expandtabs(@i@)"), ("s", "@i@|filesizeformat(@b@)"),
    ("s", "@l@|join(', ', attribute='k')"), ("s", "@a@|pprint"), ("s", "(@a@, @a@)|string"), ("s", "@a@.__class__"),
    ("s", "tools[0].function.parameters|tojson"), ("s", "messages[1].tool_calls[0].function.name"),
    ("l", "@l@|sort(reverse=@b@)"), ("l", "@l@|sort(attribute='k,role')"), ("l", "@l@|sort(case_sensitive=@b@)"),
    ("l", "messages|map(attribute='role')|list"), ("l", "messages|map(attribute='content', default=@a@)|list"),
    ("l", "messages|selectattr('content', 'string')|list"), ("l", "messages|rejectattr('role', 'equalto', @s@)|list"),
    ("l", "messages|selectattr('tool_calls')|list"), ("l", "messages|groupby('role')"), ("l", "@l@|map('tojson')|list"),
    ("l", "@l@|select('in', @l@)|list"), ("l", "@l@|reject('undefined')|list"), ("l", "@l@|unique|list"),
    ("l", "@l@[::-2]"), ("l", "@l@[@i@:@i@:@i@]"), ("l", "@d@.items()|list"), ("l", "@d@.values()|list"), ("l", "@d@|list"),
    ("l", "@s@.split()"), ("l", "@s@.rsplit(@s@, @i@)"), ("l", "@s@.partition(@s@)"), ("l", "@s@.splitlines(@b@)"),
    ("l", "@l@|slice(@i@)|list"), ("l", "@l@|batch(2, @a@)|map('list')|list"), ("l", "range(@i@, @i@, @i@)|list"),
    ("l", "[@a@, @a@][@b@:]"), ("l", "(@l@ + @l@)|map('abs')|list"), ("l", "dict(a=@a@).items()|list"),
    ("l", "@l@|map('round', @i@)|list"), ("l", "@l@|map('replace', 'a', @s@)|list"), ("l", "@l@|map('upper')|map('length')|list"),
    ("i", "messages|length - @i@"), ("i", "(@l@|length) % 2"), ("i", "@s@.find(@s@)"), ("i", "@l@|sum(attribute='k')"),
    ("i", "@l@|map('length')|sum"), ("i", "-@i@ ** 2"), ("i", "@i@ // -3"), ("i", "-@i@ % 7"), ("i", "@i@|int(base=16)"),
    ("i", "@s@|int(@i@, 16)"), ("i", "0x1F + 0b11 + 0o17 + 1_000"), ("i", "@l@|min"), ("i", "@l@|count"), ("i", "@b@ + @b@"),
    ("i", "loop.index0 + 1"), ("i", "loop.previtem.k"), ("i", "@d@|length"), ("i", "@i@.bit_length()"),
    ("f", "1e3 / @i@"), ("f", "@i@ / 3"), ("f", "@f@ ** @i@"), ("f", "@f@|round(@i@, 'ceil')"), ("f", "@s@|float(@f@)"),
    ("f", "@f@ // @f@"), ("f", "@f@ % @f@"), ("f", "@i@ ** -1"), ("f", "1.5e-7 * @f@"),
    ("b", "messages[0].role == 'system'"), ("b", "@a@ is defined and @a@ is not none"), ("b", "@i@ < @i@ <= @i@ != @i@"),
    ("b", "@s@ in @s@"), ("b", "@s@ not in @d@"), ("b", "@a@ in @l@"), ("b", "not @a@ is none"), ("b", "@a@ is string or @a@"),
    ("b", "@i@ is divisibleby 3"), ("b", "@i@ is divisibleby(@i@)"), ("b", "@a@ is sameas none"), ("b", "@a@ is eq @a@"),
    ("b", "@s@ is in @l@"), ("b", "@a@ is not mapping"), ("b", "@a@ is iterable and @a@ is not string"), ("b", "(@a@) is undefined"),
    ("b", "messages[9] is defined"), ("b", "message.nope.nope is defined"), ("b", "@d@.k is defined"), ("b", "'k' in @d@"),
    ("b", "@s@.startswith((@s@, @s@))"), ("b", "@l@ == @l@"), ("b", "@d@ == @d@"), ("b", "@a@ != @a@"), ("b", "@l@ < @l@"),
    ("b", "loop.last and not loop.first"), ("b", "add_generation_prompt and @b@"), ("b", "@i@ == @f@ == @i@"),
    ("a", "@a@ or @a@"), ("a", "@a@ and @a@"), ("a", "@a@ if @b@"), ("a", "@d@.get(@s@, @a@)"), ("a", "@d@.pop(@s@, @a@)"),
    ("a", "@l@[@i@]"), ("a", "@d@[@s@]"), ("a", "@l@|attr('append')"), ("a", "(@d@|items|first)[1]"), ("a", "@l@|random is defined"),
    ("a", "(@l@|map('upper')|first) or @a@"), ("a", "(@d@|dictsort|last)[0]"), ("a", "@d@|max"), ("a", "@l@|max(attribute='k')"),
    ("a", "@s@.encode(@s@)"), ("a", "namespace(k=@a@).k"), ("a", "dict(@l@)"), ("a", "@a@.k.key"), ("a", "@d@.items"),
    ("d", "dict(@d@, **@d@)"), ("d", "{@s!@: @a@, 'k': @d@}"), ("d", "messages[@i@]"), ("d", "tools[0].function"),
    ("d", "dict(@d@|items)"), ("d", "dict(k=@a@, b=@a@)"), ("d", "{'a': 1, **@d@}"), ("d", "@d@.copy()"),
]

SCHEMAS = [
    {"type": "object", "properties": {"city": {"type": "string", "description": "Où? <b>"},
                                      "unit": {"type": ["string", "null"], "enum": ["c", "f"], "default": None}},
     "required": ["city"]},
    {"type": "object", "properties": {}}, {"type": "object", "properties": {"n": {"type": "integer", "minimum": -1}}},
    {"properties": {"xs": {"type": "array", "items": {"type": "number"}}}, "required": []}, {},
]
CONTENTS = ["Hi", "", "  padded\n", "<think>\nhm\n</think>\n\nYes", "<think>open", "no</think>x</think>y", "日本 <|im_end|>",
            "a\r\nb", None, [{"type": "text", "text": "part <1>"}, {"type": "image"}], [{"type": "text", "text": "é"}], []]
ARGUMENTS = [{"city": "Paris", "n": 1.0}, {}, "{\"city\": \"Köln\"}", {"x": {"y": [1, None, True]}}, "", None, {"s": "it's \"q\"\n"}]
