import { connect } from '@meup/agent-sdk'
import { Type } from '@sinclair/typebox'

const books = ['The Life of the Bee', 'The Voyage of the Beagle', 'The Wind in the Willows']
const lent = new Map<string, string>()

// MEUP_URL, MEUP_SPACE and MEUP_TOKEN set the gateway, the space and the participant.
await using space = await connect()

space.tool(
  'find',
  { description: 'Books whose title has this word', input: Type.Object({ word: Type.String() }) },
  ({ word }) => books.filter((title) => title.toLowerCase().includes(word.toLowerCase())).join('\n'),
)
space.tool(
  'lend',
  {
    description: 'Gives a book to a reader',
    input: Type.Object({ title: Type.String(), to: Type.String() }),
  },
  ({ title, to }) => {
    const holder = lent.get(title)
    if (holder !== undefined) throw new Error(`${holder} has it`)
    lent.set(title, to)
    return `${title} is lent to ${to}`
  },
)
await space.closed()
