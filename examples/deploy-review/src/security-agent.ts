import { connect } from '@meup/agent-sdk'
import { review } from './security-review.js'

// MEUP_URL, MEUP_SPACE and MEUP_TOKEN set the gateway, the space and the participant.
await using space = await connect()
await space.answer(review)
