import { Command } from 'commander'
import { expect, test } from 'vitest'
import { addAsk } from '../src/commands/ask.js'
import { addAudit } from '../src/commands/audit.js'
import { addCaps } from '../src/commands/caps.js'
import { addJoin } from '../src/commands/join.js'
import { addMembers } from '../src/commands/members.js'
import { addProposals } from '../src/commands/proposals.js'
import { addSearch } from '../src/commands/search.js'
import { addSend } from '../src/commands/send.js'
import { addWatch } from '../src/commands/watch.js'

const program = new Command('meup')
for (const add of [
  addAsk,
  addAudit,
  addCaps,
  addMembers,
  addProposals,
  addSearch,
  addSend,
  addJoin,
  addWatch,
])
  add(program)

const everyOption = ({ commands, options }: Command): string[] => [
  ...options.filter(({ variadic }) => variadic).map(({ long }) => String(long)),
  ...commands.flatMap(everyOption),
]

test('no option takes the words after its value', () => {
  expect(everyOption(program)).toEqual([])
})

test('lists are written with commas, and what follows is an argument', async () => {
  const search = program.commands.find((each) => each.name() === 'search')
  let called: unknown[] = []
  search?.action((words: string[], flags: object) => {
    called = [words, flags]
  })
  await program.parseAsync(['search', '--kind', 'chat,chat.cancel', 'unused', '--from', 'ana'], {
    from: 'user',
  })
  expect(called).toEqual([['unused'], { kind: ['chat', 'chat.cancel'], from: ['ana'], limit: '20' }])
})
