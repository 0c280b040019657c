import { PatternError } from '@meup/protocol'
import { SafetyError } from '@meup/safety'
import { describe, expect, test } from 'vitest'
import { ConfigError } from '../src/config/config-error.js'
import { parseConfig } from '../src/config/load.js'

/** Lines of the error message, without the file name. */
function findProblems(text: string): string[] {
  try {
    parseConfig(text, { file: 'space.yaml', env: {} })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.message.split('\n').map((line) => line.replace(/^space\.yaml:/, ''))
  }
  return []
}

const head = 'version: 1\nspace: demo\n'
/** Problems of a configuration with this text from line 3 on; `inParticipants`: from line 4 on, in the map of participants. */
const inSpace = (text: string) => findProblems(head + text)
const inParticipants = (text: string) => findProblems(`${head}participants:\n${text}`)

test('an error gives its problems as data and as lines, in their order', () => {
  const text = 'version: 1\nspace: demo\nsaefty: {}\nparticipants:\n  ana: { kind: x }\nauth: x\n'
  const error = catchError(() => parseConfig(text, { file: 'dir/space.yaml', env: {} }))
  expect(error.problems).toEqual([
    { line: 3, column: 1, path: 'saefty', message: 'is not known here; did you mean safety?' },
    {
      line: 5,
      column: 16,
      path: 'participants.ana.kind',
      message: 'must be one of human, agent, mcp, process, acp',
    },
    { line: 6, column: 7, path: 'auth', message: 'must be a map of keys and values' },
  ])
  expect(error.message.split('\n')[1]).toBe(
    'dir/space.yaml:5:16 participants.ana.kind: must be one of human, agent, mcp, process, acp',
  )
})

function catchError(act: () => unknown): ConfigError {
  try {
    act()
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('keys', () => {
  test('unknown ones, with the known one that is nearest', () => {
    expect(inSpace('particpants: {}\ngateway:\n  trust_proxy: true\nretentoin: {}\n')).toEqual([
      '3:1 particpants: is not known here; did you mean participants?',
      '5:3 gateway.trust_proxy: is not known here; did you mean trustProxy?',
      '6:1 retentoin: is not known here; did you mean retention?',
    ])
  })

  test('unknown ones that are near to nothing', () => {
    expect(inSpace('mcp: { colour: red }')).toEqual([
      '3:8 mcp.colour: is not known here; known are visibility',
    ])
  })

  test('nothing is suggested that would be refused', () => {
    const [problem] = inParticipants('  files: { kind: mcp, url: "https://tools.example", arg: [x] }')
    expect(problem).toContain('participants.files.arg: is not known here')
    expect(problem).not.toContain('args')
  })

  test('names of participants that could be taken for others', () => {
    const names = ['ana', 'ANA', 'a.na', 'System', 'guest-1', 'anna', 'guests']
    expect(inParticipants(names.map((name) => `  ${name}: { kind: human }\n`).join(''))).toEqual([
      '5:3 participants.ANA: could be taken for ana; choose another name',
      '6:3 participants.a.na: could be taken for ana; choose another name',
      '7:3 participants.System: could be taken for system:gateway; choose another name',
      '8:3 participants.guest-1: could be taken for guest-…; choose another name',
    ])
  })

  test('a front desk that is no participant', () => {
    const text = 'version: 1\nspace: demo\nfrontDesk: bob\nparticipants: { ana: { kind: human } }\n'
    expect(findProblems(text)).toEqual([
      '3:12 frontDesk: names bob, which is not a participant; name one of ana',
    ])
  })

  test('a misspelt kind is told together with what no kind has', () => {
    expect(
      inParticipants('  ana: { knd: human }\n  bob: { kind: humn, capabilities: all, command: x }'),
    ).toEqual([
      '4:8 participants.ana.kind: is missing; it must be one of human, agent, mcp, process, acp',
      '4:10 participants.ana.knd: is not known here; did you mean kind?',
      '5:16 participants.bob.kind: must be one of human, agent, mcp, process, acp',
      '5:36 participants.bob.capabilities: must be a list',
    ])
  })

  test('of another kind', () => {
    expect(inParticipants('  ana: { kind: human, command: x }')).toEqual([
      '4:23 participants.ana.command: is not known here; known are kind, capabilities, limits, programs, description',
    ])
    expect(inSpace('storage: { kind: memory, path: x }')).toEqual([
      '3:26 storage.path: is not known here; known are kind',
    ])
  })

  test('missing ones, shown at the map that lacks them', () => {
    expect(findProblems('participants:\n  files: { kind: mcp }\n')).toEqual([
      '1:1 version: is missing; it must be 1',
      '1:1 space: is missing; it must be a name: up to 63 lower-case letters, digits and -, not beginning with -',
      '2:10 participants.files.command: is missing; it must be text, and not empty; a server elsewhere has a url instead',
    ])
  })

  test('names that no participant, space or variable can have', () => {
    expect(
      inParticipants('  -ana: { kind: human }\n  p: { kind: process, command: p, env: { "A B": x } }'),
    ).toEqual([
      '4:3 participants.-ana: must be an id: up to 64 letters, digits and . _ -, beginning with a letter or digit',
      '5:42 participants.p.env.A B: must be a name of letters, digits and _, not beginning with a digit',
    ])
    expect(findProblems('version: 1\nspaces:\n  Demo: {}\n')).toEqual([
      '3:3 spaces.Demo: must be a name: up to 63 lower-case letters, digits and -, not beginning with -',
    ])
  })

  test('__proto__ is a key as any other', () => {
    expect(inSpace('limits: { __proto__: { contextDepth: 9 } }')).toEqual([
      expect.stringMatching(/^3:11 limits\.__proto__: is not known here/),
    ])
  })
})

describe('values', () => {
  test.for([
    [
      'gateway: { listen: 8080 }',
      '3:20 gateway.listen: must be HOST:PORT, such as 127.0.0.1:8080 or "[::1]:8080"',
    ],
    [
      'gateway:\n  origins:\n    - https://a.example\n    - https://b.example/',
      '6:7 gateway.origins.1: must be an origin in lower case and without a path, such as https://app.example',
    ],
    ['gateway: { trustProxy: yes }', '3:24 gateway.trustProxy: must be true or false'],
    ['storage: { kind: sqlite, durability: full }', '3:38 storage.durability: must be one of process, power'],
    ['retention: { days: -1 }', '3:20 retention.days: must be a whole number, 0 or more'],
    ['limits: { contextDepth: 0 }', '3:25 limits.contextDepth: must be a whole number, 1 or more'],
    ['limits: { contextDepth: deep }', '3:25 limits.contextDepth: must be a whole number, 1 or more'],
    [
      'limits: { rates: { chat: { perSecond: 0, burst: 1 } } }',
      '3:39 limits.rates.chat.perSecond: must be a number above 0',
    ],
    [
      'limits: { rates: { chat: { perSecond: 1 } } }',
      '3:26 limits.rates.chat.burst: is missing; it must be a number, 1 or more',
    ],
    [
      'reasoning: { abandonAfter: 60 }',
      '3:28 reasoning.abandonAfter: must be a duration of some days at most, such as 500ms, 60s, 5m or 2h',
    ],
    ['mcp: { visibility: nobody }', '3:20 mcp.visibility: must be one of everyone, addressees'],
    ['guest:', '3:7 guest: must be a map of keys and values'],
    [
      'participants: { p: { kind: process, command: p, args: [--port, 80] } }',
      '3:64 participants.p.args.1: must be text; numbers, true and false need quotes here',
    ],
    [
      'participants: { p: { kind: process, command: p, restart: sometimes } }',
      '3:58 participants.p.restart: must be one of never, on-failure, always',
    ],
  ] as const)('%s', ([text, expected]) => {
    expect(inSpace(text)).toEqual([expected])
  })

  test('the version', () => {
    expect(findProblems('version: 2\nspace: demo\n')).toEqual(['1:10 version: must be 1'])
  })
})

describe('capabilities', () => {
  test('every bad one is told where it stands', () => {
    expect(
      inParticipants(`
  ana:
    kind: agent
    capabilities:
      - chat
      - "!!chat"
      - { kind: mcp.request, payload: { params: { name: [ok, "re:("] } } }
      - { to: files }
      - { kind: chat, form: x }
`),
    ).toEqual([
      `9:9 participants.ana.capabilities.1: ${new PatternError('double_negation', {}, '').problem}`,
      expect.stringMatching(/^10:62 participants\.ana\.capabilities\.2\.payload\.params\.name\.1: /),
      expect.stringMatching(/^11:9 participants\.ana\.capabilities\.3: /),
      expect.stringMatching(/^12:29 participants\.ana\.capabilities\.4\.form: /),
    ])
  })

  test('those of guests and defaults too', () => {
    expect(inSpace('guest: { capabilities: [1] }\ndefaults: { capabilities: [{}] }\n')).toEqual([
      expect.stringMatching(/^3:25 guest\.capabilities\.0: /),
      expect.stringMatching(/^4:28 defaults\.capabilities\.0: /),
    ])
  })

  test('too many of them', () => {
    const list = JSON.stringify(Array(257).fill('chat'))
    const details = { count: 257, limit: 256 }
    expect(inSpace(`guest: { capabilities: ${list} }`)).toEqual([
      `3:24 guest.capabilities: ${new PatternError('many_capabilities', details, '').problem}`,
    ])
  })

  test('a mistake under an anchor is shown where it is written', () => {
    const text = '  a: { kind: human, capabilities: &c ["!!x"] }\n  b: { kind: human, capabilities: *c }\n'
    expect(inParticipants(text)).toEqual([
      expect.stringMatching(/^4:39 participants\.a\.capabilities\.0: /),
      expect.stringMatching(/^4:39 participants\.b\.capabilities\.0: /),
    ])
  })
})

describe('an MCP server has a command or a url', () => {
  test.for([
    [
      'url: "https://a.example/mcp", command: x',
      '4:19 participants.r.url: excludes command; keep one of them',
    ],
    ['command: x, headers: { a: b }', /headers: goes with a url; give a command its secrets in env$/],
    ['url: "https://a.example", args: [x]', /args: goes with a command; a url has none$/],
    [
      'url: "https://a.example", env: { A: b }',
      /env: goes with a command; give a url its secrets in headers$/,
    ],
    ['url: a.example', /url: must be an address such as https:.*, without user and password$/],
    ['url: "https://me:secret@a.example/"', /url: must be an address such as/],
    ['url: "https://a.example/#part"', /url: must be an address such as/],
    ['url: "https://a.example", headers: { "a b": c }', /headers\.a b: must be the name of a header/],
    ['url: "https://a.example", headers: { a: "b\\nc" }', /headers\.a: must be one line of text/],
    ['url: "https://a.example", headers: { a: 1 }', /headers\.a: must be one line of text/],
  ] as const)('%s', ([keys, expected]) => {
    expect(inParticipants(`  r: { kind: mcp, ${keys} }`)).toEqual([expect.stringMatching(expected)])
  })
})

describe('the rules of safety', () => {
  test('every bad one is told where it stands', () => {
    expect(
      inSpace(`safety:
  onLeak: hide
  policy:
    - { name: A, pattern: x, action: forbid }
  rules:
    - { name: fine, pattern: "EXK-[0-9]{4}" }
    - { pattern: x }
`),
    ).toEqual([
      '4:11 safety.onLeak: must be one of mask, block',
      '6:15 safety.policy.0.name: must be a name: up to 64 lower-case letters, digits and -',
      '6:38 safety.policy.0.action: must be one of allow, sanitize, review, block',
      '9:7 safety.rules.1.name: is missing; it must be a name: up to 64 lower-case letters, digits and -',
    ])
  })

  test('patterns that cannot be used', () => {
    expect(
      inSpace(`safety:
  policy: [{ name: p, pattern: "(?!x)y", action: block }]
  rules:
    - { name: fine, pattern: "EXK-[0-9]{4}" }
    - name: open
      pattern: "a("
    - { name: empty, pattern: "x*" }
    - { name: loud, pattern: EXK, keywords: [EXK] }
`),
    ).toEqual([
      expect.stringMatching(/^4:32 safety\.policy\.0\.pattern: /),
      expect.stringMatching(/^8:16 safety\.rules\.1\.pattern: /),
      expect.stringMatching(/^9:31 safety\.rules\.2\.pattern: /),
      expect.stringMatching(/^10:46 safety\.rules\.3\.keywords\.0: /),
    ])
  })

  test('names that are taken', () => {
    const rule = '{ name: twice, pattern: x }'
    expect(inSpace(`safety: { rules: [${rule}, ${rule}] }`)).toEqual([
      `3:56 safety.rules.1.name: ${new SafetyError('taken_name', { name: 'twice' }, '').message}`,
    ])
  })
})

test('beside several spaces nothing is said of one', () => {
  expect(
    findProblems(
      'version: 1\nspace: a\nspaces: { a: {}, b: { storage: {} } }\nparticipants: {}\nsafety: {}\n',
    ),
  ).toEqual([
    '2:1 space: excludes spaces; keep one of them',
    expect.stringMatching(/^3:23 spaces\.b\.storage: is not known here/),
    '4:1 participants: belongs in each of the spaces; move it there',
    '5:1 safety: belongs in each of the spaces; move it there',
  ])
  expect(findProblems('version: 1\nspaces: {}\n')).toEqual([
    '2:9 spaces: must be a map of names and values, with 1 or more',
  ])
})
