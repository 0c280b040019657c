// An agent that answers "pong …" and, on request, misbehaves in various ways.
import { writeFileSync } from 'node:fs'
import { connect } from '@meup/agent-sdk'

const space = await connect()
writeFileSync(`${process.env.MEUP_PARTICIPANT}.pid`, String(process.pid))

const faults = {
  throw() {
    throw new Error('the handler throws')
  },
  'throw-in-listener': () => {
    space.once('envelope', () => {
      throw new Error('a listener throws')
    })
  },
  'crash-later': () => void setTimeout(() => Promise.reject(new Error('nobody handles this'))),
}

await space.answer(async (turn) => {
  await turn.reason('Thinking', () => faults[turn.text]?.())
  await turn.reply(`pong ${turn.text}`)
})
