// An agent with a model at a given address.
import { writeFileSync } from 'node:fs'
import { connect } from '@meup/agent-sdk'

const space = await connect()
writeFileSync(`${process.env.MEUP_PARTICIPANT}.pid`, String(process.pid))
await space.agent({
  model: 'scripted',
  baseURL: process.env.MODEL_BASE_URL,
  tools: [],
  settings: { maxRetries: 0 },
  transcript: 'off',
})
