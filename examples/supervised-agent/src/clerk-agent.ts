import { connect } from '@meup/agent-sdk'
import { work } from './clerk.js'

// Where and as whom to connect comes from MEUP_URL, MEUP_SPACE and MEUP_TOKEN.
await using space = await connect()
await space.answer(work)
