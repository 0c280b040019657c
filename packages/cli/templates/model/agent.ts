import { connect } from '@meup/agent-sdk'
import { model } from './model.js'
import { role } from './role.js'

await using space = await connect()
await space.agent({ ...model, ...role })
