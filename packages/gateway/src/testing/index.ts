export { createTestDraft, randomDrafts } from './log-fixtures.js'
export { describeEnvelopeLog, type StoreUnderTest, type TestRunner } from './log-suite.js'
export {
  createTestGateway,
  dialInMemory,
  FakeClock,
  fetchInMemory,
  type LineEvents,
  type MemoryLine,
  type TestParticipant,
  type TestSpaceOptions,
  testSpaceConfig,
  testToken,
} from './memory-gateway.js'
