import { Kind } from '@meup/protocol'
import { Script } from '../test/support.js'

const usage = {
  tokens: { input: 8200, output: 640, cached: 4000, reasoning: 210 },
  cost: 0.031,
  model: 'large-2',
}

const answer = `## What I found

1. **Two** tests fail in \`pool.ts\`
2. see [the report](https://example.org/report)

| test | took |
|---|---:|
| expiry | 1,204 ms |

\`\`\`ts
${Array.from({ length: 30 }, (_, at) => `const value${at} = pool.take(${at})`).join('\n')}
\`\`\`
`

const edit = {
  path: 'src/pool.ts',
  oldText: 'export const size = 4\nexport const wait = 100\n',
  newText: 'export const size = 8\nexport const wait = 100\n',
}

function call(script: Script, context: string, name: string, args: object) {
  const payload = { jsonrpc: '2.0', method: 'tools/call', params: { name, arguments: args } }
  return script.say({ from: 'planner', to: ['tools'], kind: Kind.mcpRequest, context, payload })
}

/** A question with a finished run of several calls, a Markdown answer, and a second run in progress. */
export function conversation(): Script {
  const script = new Script()
  const question = script.chat('ana', 'Why is the pool slow?')
  const run = script.start('planner', 'Looking at the pool', { correlationId: question.id })
  script.thought('planner', run.id, 'The tests come first.')
  script.answer(call(script, run.id, 'read_file', { path: 'src/pool.ts' }), 'line\n'.repeat(180))
  script.answer(call(script, run.id, 'bash', { command: 'npm test' }), '2 failed', true)
  script.answer(call(script, run.id, 'edit_file', edit), 'done')
  const nested = script.start('planner', 'Why do they fail?', { context: run.id })
  script.thought('planner', `${run.id}/${nested.id}`, 'They wait for each other.')
  script.say({
    ...{ from: 'planner', kind: Kind.reasoningConclusion, context: run.id },
    payload: { message: 'The pool is too small', metadata: usage },
  })
  script.say({
    ...{ from: 'planner', kind: Kind.chat, correlationId: question.id },
    payload: { message: answer, format: 'markdown' },
  })
  const second = script.chat('ana', '@security is it safe?')
  const live = script.start('security', 'Going through the change', { correlationId: second.id })
  script.thought('security', live.id, 'One new package.')
  call(script, live.id, 'grep', { pattern: 'eval' })
  script.say({
    ...{ from: 'security', to: ['ana'], kind: Kind.chat, correlationId: second.id },
    payload: { message: 'Only you read this.' },
  })
  return script
}

function propose(script: Script, context: string, name: string, args: object, more: object = {}) {
  const payload = { method: 'tools/call', params: { name, arguments: args }, ...more }
  return script.say({
    ...{ from: 'planner', to: ['tools'], kind: Kind.mcpProposal, context, rationale: 'it is time', payload },
  })
}

/** Undecided proposals of each risk, decided proposals, and an elicitation. */
export function decisions(): Script {
  const script = new Script()
  const question = script.chat('ana', 'Make the pool larger.')
  const run = script.start('planner', 'Making it larger', { correlationId: question.id })
  propose(script, run.id, 'edit_file', edit)
  propose(script, run.id, 'bash', { command: 'rm -rf ../..', cwd: 'src' })
  propose(script, run.id, 'deploy', { targets: [{ region: 'north', replicas: 3 }] })
  for (const path of ['a', 'b', 'c'])
    propose(script, run.id, 'delete_file', { path: `docs/notes/${path}.md` })
  const rejected = propose(script, run.id, 'release', { version: '1.4.2' })
  script.say({
    ...{ from: 'ana', to: ['planner'], kind: Kind.mcpReject, correlationId: rejected.id },
    payload: { reason: 'declined', message: 'not on a Friday' },
  })
  const asking = script.say({
    ...{ from: 'ana', to: ['tools'], kind: Kind.mcpRequest, context: run.id },
    payload: { jsonrpc: '2.0', method: 'tools/call', params: { name: 'deploy', arguments: {} } },
  })
  script.say({
    ...{ from: 'tools', to: ['ana'], kind: Kind.mcpRequest, correlationId: asking.id, context: run.id },
    payload: {
      jsonrpc: '2.0',
      method: 'elicitation/create',
      params: {
        message: 'Where to?',
        requestedSchema: {
          type: 'object',
          properties: { region: { type: 'string', enum: ['north', 'south'] }, dry: { type: 'boolean' } },
          required: ['region'],
        },
      },
    },
  })
  return script
}

export const emptyScript = (): Script => new Script()
