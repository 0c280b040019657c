import type { Place } from './place.js'

const url = 'https://api.{owner}.com/v<digits:1>'

export const speech: readonly Place[] = [
  {
    name: 'shell',
    notations: {
      named: [
        'export {NAME}={bare}',
        "{owner} login --{shortKebab} '{value}'",
        '{owner} login --{shortKebab}={bare}',
        'docker run -d -e {NAME}={bare} {owner}/agent:latest',
        "kubectl create secret generic {owner} --from-literal={shortKebab}='{value}'",
        "gh secret set {NAME} --body '{value}'",
        "echo '{value}' | {owner} login --{shortKebab}-stdin",
        'helm upgrade app ./chart --set {owner}.{shortCamel}={bare}',
        '{NAME}={bare} npm run deploy',
        "aws ssm put-parameter --name /prod/{kebab} --value '{value}'",
        "{owner} config set {short} '{value}'",
      ],
      token: [
        `curl -H 'X-{Header}: {value}' ${url}/items`,
        `curl -H "Authorization: Bearer {value}" ${url}/items`,
        `curl -u '{value}:' ${url}/items`,
        `http GET ${url}/items X-{Header}:{value}`,
      ],
      password: [
        `curl -u 'admin:{value}' ${url}/items`,
        "sshpass -p '{value}' ssh deploy@<lower:5>.internal",
      ],
      lines: [
        "cat > key.pem <<'EOF'\n{raw}\nEOF",
        'echo -e "{escaped}" > ~/.ssh/id_rsa',
        'export {NAME}="{raw}"',
      ],
    },
    around: ['cd /srv/app', 'set -euo pipefail', 'git pull --ff-only', 'npm ci', 'systemctl restart app'],
  },
  {
    name: 'log line',
    notations: {
      named: [
        '2031-0<digits:1>-1<digits:1>T1<digits:1>:22:05.<digits:3>Z INFO {owner} client ready {short}={value} region=eu',
        'level=info msg="{owner} configured" {snake}={value}',
        'level=debug msg="loaded settings" {camel}="{value}" attempt=1',
        '[DEBUG] {Owner}Client: using {shortWords} {value}',
        '12:04:<digits:2> WARN request failed: 401 ({shortWords}: {value})',
        '{"level":30,"time":18<digits:11>,"{camel}":"{value}","msg":"connected"}',
        'Nov 24 07:<digits:2>:12 web-1 app[<digits:4>]: {Words}: {value}',
        "ERROR {owner}: {shortWords} '{value}' was rejected",
        'DEBUG env: PATH=/usr/bin {NAME}={value} HOME=/root',
      ],
      lines: ['INFO loaded {words}: {escaped}', 'level=debug {camel}="{escaped}"'],
    },
    around: [
      '12:04:01 INFO listening on 0.0.0.0:8080',
      '12:04:02 INFO migrated the database in <digits:3> ms',
      'GET /health 200 2 ms',
    ],
  },
  {
    name: 'markdown table',
    notations: {
      named: [
        '| setting | value |\n|---|---|\n| {NAME} | `{value}` |',
        '| {Words} | {value} |',
        '| `{snake}` | `{value}` | for staging |',
        '| service | {shortWords} |\n|---|---|\n| {Owner} | {value} |',
        '| environment | {words} |\n| --- | --- |\n| production | `{value}` |',
        '| {owner} | {last} | {value} |',
      ],
    },
    around: ['| timeout | 30 |', '| region | eu-west-1 |', '', 'The settings of the service:'],
  },
  {
    name: 'prose',
    notations: {
      named: [
        'The {words} is {value}.',
        'I found the {words} in the container: {value}',
        "{words} - '{value}'",
        '{SHORT} {value}',
        '{LAST} {value}',
        'Use `{value}` as the {words} for now.',
        'The {Owner} {shortWords} (`{value}`) still works, so the deployment can go on.',
        'It reads {NAME} from the environment, which is {value} on staging.',
        'Set {NAME} to {value} and run it again.',
        'My {words}: **{value}**',
        'They gave us this {shortWords}: "{value}", which expires on Friday.',
        '{Words} → {value}',
        'The {shortWords} of {Owner} was changed to {value} yesterday.',
        'we authenticate with {shortWords} {value}',
      ],
      lines: [
        'The {words} is:\n\n{raw}\n\nIt must not be rotated.',
        'I found this in the image:\n```\n{raw}\n```',
      ],
    },
    around: [
      'I look at the deployment first.',
      'The tests pass, and the log shows no error.',
      'Then I check whether the service answers.',
      '',
    ],
  },
  {
    name: 'url query',
    encode: encodeURIComponent,
    notations: {
      token: [
        `GET ${url}/items?{short}={value}&page=2`,
        `${url}/items?page=<digits:1>&{snake}={value}`,
        `${url}?{last}={value}`,
        `fetch("${url}/items?{shortCamel}={value}")`,
        `wss://stream.{owner}.io/?{glued}={value}`,
        `[status](${url}/badge.svg?{last}={value})`,
      ],
      password: [`POST ${url}/login?user=admin&{last}={value}`, `${url}/connect?{shortCamel}={value}&tls=1`],
      address: [`${url}/proxy?target={value}`, `https://<lower:6>.internal/connect?{short}={value}`],
    },
    around: ['The request was answered with 200:', 'Redirected to', ''],
  },
  {
    name: 'http header',
    notations: {
      token: [
        'Authorization: Bearer {value}',
        'Authorization: Token {value}',
        'X-{Header}: {value}',
        'x-{kebab}: {value}',
        'X-Api-Key: {value}',
        '{Header}: {value}',
        'Cookie: theme=dark; {snake}={value}',
        'Set-Cookie: {snake}={value}; Path=/; HttpOnly',
        'Authorization: {Owner} {last}={value}',
      ],
      password: ['X-{Header}: {value}', 'x-{kebab}: {value}'],
    },
    around: [
      'Host: api.internal',
      'Accept: application/json',
      'User-Agent: curl/8.5.0',
      'Content-Type: application/json',
    ],
  },
]
