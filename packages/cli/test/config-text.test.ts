// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how the files under test write variables
import { describe, expect, test } from 'vitest'
import { ConfigError } from '../src/config/config-error.js'
import { parseConfig } from '../src/config/load.js'

const head = 'version: 1\nspace: demo\n'

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

describe('what is no YAML', () => {
  test.for([
    ['', '1:1 the file is empty; begin with version: 1 and space: <name>'],
    ['# nothing\n', '1:1 the file is empty; begin with version: 1 and space: <name>'],
    [`${head}---\nx: 1\n`, '3:1 a second document begins here; put everything into one'],
    [`${head}x: [*]\n`, '3:5 an alias needs a name; put text that begins with * in quotes'],
    [`${head}x: [a, *b]\n`, '3:8 there is no anchor &b above; put text that begins with * in quotes'],
    [`${head}? [a]\n: 1\n`, '3:3 a key must be text'],
    [`${head}\tx: 1\n`, '3:1 lines are indented with spaces in YAML; replace the tab'],
    [
      `${head}x: { a: \${A}, b: 1 }\ny: 2\n`,
      '3:10 this does not belong here; put text that holds { } [ ] , : or # in quotes',
    ],
  ] as const)('%j', ([text, expected]) => {
    expect(findProblems(text)).toEqual([expected])
  })

  test('an alias bomb', () => {
    const ten = (name: string) => `[${Array(10).fill(`*${name}`).join(', ')}]`
    const text = `a: &a [1, 2]\nb: &b ${ten('a')}\nc: &c ${ten('b')}\nd: &d ${ten('c')}\ne: ${ten('d')}\n`
    expect(findProblems(text)).toEqual(['5:41 aliases repeat too much of the file; write it out'])
  })

  test('mistakes that leave the rest readable are told with the rest', () => {
    expect(findProblems(`${head}space: again\nparticipants:\n  a: !tagged { kind: robot }\n`)).toEqual([
      '3:1 this key is there twice; keep one of them',
      '5:6 tags have no meaning here; put text that begins with ! in quotes',
      '5:22 participants.a.kind: must be one of human, agent, mcp, process, acp',
    ])
  })

  test('of a key that is there twice the last is looked at', () => {
    expect(findProblems(`${head}space: No\n`)).toEqual([
      '3:1 this key is there twice; keep one of them',
      expect.stringMatching(/^3:8 space: must be a name/),
    ])
  })

  test('something else than a map', () => {
    expect(findProblems('- version: 1\n')).toEqual(['1:1 must be a map of keys and values'])
  })
})

describe('the environment', () => {
  const env = { A: 'one', EMPTY: '', YAML: '"], kind: human, x: ["', REFERENCE: '${A}' }
  const args = (...values: string[]) => {
    const text = `${head}participants: { p: { kind: process, command: p, args: ${JSON.stringify(values)} } }`
    const program = parseConfig(text, { file: 'space.yaml', env }).spaces[0]?.programs.p
    return program?.kind === 'process' ? program.args : undefined
  }

  test('fills in text, in whole or in part', () => {
    expect(args('${A}', 'x-${A}-${A}', '${EMPTY}')).toEqual(['one', 'x-one-one', ''])
  })

  test('gives way to a default where it has nothing', () => {
    expect(args('${A:-two}', '${B:-two}', '${EMPTY:-two}', '${B:-}', '${B:-a:-b $c}')).toEqual([
      'one',
      'two',
      'two',
      '',
      'a:-b $c',
    ])
  })

  test('is no YAML, and is not expanded again', () => {
    expect(args('${YAML}', '${REFERENCE}')).toEqual([env.YAML, '${A}'])
  })

  test('can be left alone', () => {
    expect(args('$${A}', '$A', '$$', 'a$')).toEqual(['${A}', '$A', '$$', 'a$'])
  })
})

describe('variables that cannot be filled in', () => {
  test('an unset variable is told where it is used, and nothing follows from it', () => {
    const text = 'gateway: { listen: "${HOST}:${PORT}" }\nparticipants:\n  p: { kind: "${KIND}" }\n'
    expect(findProblems(head + text)).toEqual([
      '3:20 gateway.listen: the environment variable HOST is not set; set it, or write ${HOST:-default}; ' +
        'the environment variable PORT is not set; set it, or write ${PORT:-default}',
      '5:14 participants.p.kind: the environment variable KIND is not set; set it, or write ${KIND:-default}',
    ])
  })

  test('an unset variable is a mistake also where empty text would do', () => {
    const text = 'participants:\n  p: { kind: process, command: p, env: { TOKEN: "${TOKEN}" } }\n'
    expect(findProblems(head + text)).toEqual([
      expect.stringMatching(/^4:49 participants\.p\.env\.TOKEN: .* TOKEN is not set/),
    ])
  })

  test.for(['${}', '${A', '${A.B}', '${1}'])('%s is no variable', (reference) => {
    expect(findProblems(`${head}gateway: { origins: ["${reference}"] }`)).toEqual([
      expect.stringMatching(/^3:22 gateway\.origins\.0: write \$\{NAME\} or \$\{NAME:-default\}, not /),
    ])
  })

  test('keys are not expanded', () => {
    expect(findProblems(`${head}participants:\n  "\${A}": { kind: human }`)).toEqual([
      expect.stringMatching(/^4:3 participants\.\$\{A\}: must be an id/),
    ])
  })
})
