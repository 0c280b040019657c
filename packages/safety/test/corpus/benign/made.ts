import { draw } from '../grammar.js'
import type { Random } from '../random.js'

/** Names and sentences with which logs and lock files are made. */
export interface Vocabulary {
  readonly packages: readonly string[]
  readonly paths: readonly string[]
  readonly sentences: readonly string[]
}

/**
 * Templates of lines with identifiers that look like secrets. `{package}`, `{path}` and `{sentence}` are taken from the
 * vocabulary.
 */
const lines = [
  '2031-11-24T07:31:<digits:2>.<digits:3>Z INFO request id=<uuid> method=GET path=/{path} status=200 duration=<digits:2>ms',
  '203.0.113.<digits:2> - - [24/Nov/2031:07:31:<digits:2> +0000] "GET /assets/index-<base62:8>.js HTTP/1.1" 200 <digits:5>',
  '#12 sha256:<hex:64> 3.4MB / 3.4MB 0.4s done',
  'Digest: sha256:<hex:64>',
  'kubelet[<digits:4>]: Started container api in pod api-<hex:10>-<base36:5>',
  'level=info trace_id=<hex:32> span_id=<hex:16> msg="{sentence}"',
  '<hex:7> {sentence}',
  'commit <hex:40>',
  '[<digits:5>.<digits:6>] usb 1-1: new high-speed USB device number 4 using xhci_hcd',
  'npm warn deprecated {package}: this version is no longer supported',
  'Resolving: total <digits:3>, reused <digits:3>, downloaded 0, added 0 {package}',
  ' ✓ {path} (<digits:2> tests) <digits:3>ms',
  '{path}:<digits:3>:<digits:2> - error TS2345: Argument of type string is not assignable to parameter of type Token.',
  '    at parse ({path}:<digits:3>:<digits:2>)',
  'sshd[<digits:5>]: Accepted publickey for deploy from 198.51.100.7 port <digits:5> ssh2: ED25519 SHA256:<base64:43>',
  'systemd[1]: Started Session <digits:4> of user deploy.',
  '< etag: W/"<hex:4>-<base64:27>"',
  '< x-request-id: <uuid>',
  '< x-amz-id-2: <base64:76>=',
  '< cf-ray: <hex:16>-FRA',
  '> Sec-WebSocket-Key: <base64:22>==',
  '< Sec-WebSocket-Accept: <base64:27>=',
  '> Idempotency-Key: <uuid>',
  'Cache restored from key: Linux-pnpm-store-<hex:64>',
  'cache key: {package}-<hex:40>',
  'ERROR: duplicate key value violates unique constraint "runs_pkey": Key (id)=(<uuid>) already exists.',
  'consumer: partition=3 offset=<digits:8> key=order-<digits:6>',
  'verified signature, kid=<hex:16> alg=RS256',
  'usage: prompt_tokens=<digits:4> completion_tokens=<digits:3> total_tokens=<digits:4>',
  'host key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<base64:43>',
  '<hex:64>  dist/{path}',
  'go: downloading golang.org/x/crypto v0.0.0-2023101200<digits:4>-<hex:12>',
  'event: { "partitionKey": "<uuid>", "sortKey": "<digits:13>#<hex:24>" }',
  'INSERT INTO runs (public_key, commit_sha) VALUES ("<base64:43>=", "<hex:40>")',
  'loaded public key <hex:64>, fingerprint SHA256:<base64:43>',
  'gpg: using RSA key <HEX:40>',
  'GET runs:<uuid> from the cache: miss, key=runs:<digits:6>:summary',
  'foreignKey: fk_<hex:16>, primaryKey=<uuid>',
  '<script src="/app.js" integrity="sha384-<base64:64>" crossorigin></script>',
  'tokens: <digits:4>, tokenizer: cl100k_base, max_tokens=4096',
  'keyframe=<digits:4> keycode=65 keyboard=us',
  'author=build authored_at=2031-11-24 object=<hex:40>',
  'image: registry.internal/{name}@sha256:<hex:64>',
  'DEBUG scheduler: task <hex:24> of queue mail took <digits:3> ms',
  'WARN {sentence}',
  'INFO {sentence}',
]

const entries: readonly (readonly string[])[] = [
  [
    '    "node_modules/{name}": {\n      "version": "{version}",\n      "resolved": "https://registry.npmjs.org/{name}/-/{name}-{version}.tgz",\n      "integrity": "sha512-<base64:86>==",\n      "license": "MIT"\n    },',
  ],
  [
    '"{name}@^{version}":\n  version "{version}"\n  resolved "https://registry.yarnpkg.com/{name}/-/{name}-{version}.tgz#<hex:40>"\n  integrity sha512-<base64:86>==\n',
    '"{name}@npm:^{version}":\n  version: {version}\n  resolution: "{name}@npm:{version}"\n  checksum: 10c0/<hex:128>\n  languageName: node\n',
  ],
  [
    '[[package]]\nname = "{name}"\nversion = "{version}"\nsource = "registry+https://github.com/rust-lang/crates.io-index"\nchecksum = "<hex:64>"\n',
  ],
  ['github.com/{name} v{version} h1:<base64:43>=', 'github.com/{name} v{version}/go.mod h1:<base64:43>='],
  [
    '[[package]]\nname = "{name}"\nversion = "{version}"\nfiles = [\n    {file = "{name}-{version}-py3-none-any.whl", hash = "sha256:<hex:64>"},\n    {file = "{name}-{version}.tar.gz", hash = "sha256:<hex:64>"},\n]\n',
    '{name}=={version} \\\n    --hash=sha256:<hex:64> \\\n    --hash=sha256:<hex:64>',
  ],
  ['    {name} ({version})', '    {name} ({version}) sha256=<hex:64>'],
  [
    '            "name": "{name}",\n            "version": "{version}",\n            "source": { "type": "git", "reference": "<hex:40>" },\n            "dist": { "type": "zip", "reference": "<hex:40>", "shasum": "" },',
  ],
  [
    '    "{name}": {\n      "locked": {\n        "lastModified": 17<digits:8>,\n        "narHash": "sha256-<base64:43>=",\n        "rev": "<hex:40>",\n        "type": "github"\n      }\n    },',
  ],
]

const fill = (template: string, { packages, paths, sentences }: Vocabulary, random: Random): string => {
  const entry = random.pick(packages)
  const [, name = entry, version = '1.0.0'] = /^@?(.+)@([^@]+)$/.exec(entry) ?? []
  const words: Readonly<Record<string, string>> = {
    ...{ package: entry, name, version },
    path: random.pick(paths),
    sentence: random.pick(sentences),
  }
  return draw(template, random).text.replace(/\{(\w+)\}/g, (whole, word: string) => words[word] ?? whole)
}

export const logOf = (vocabulary: Vocabulary, random: Random): string =>
  Array.from({ length: random.integer(4, 10) }, () => fill(random.pick(lines), vocabulary, random)).join('\n')

export function lockFileOf(vocabulary: Vocabulary, random: Random): string {
  const format = random.pick(entries)
  return Array.from({ length: random.integer(3, 8) }, () =>
    fill(random.pick(format), vocabulary, random),
  ).join('\n')
}
