export { FakeClock } from './fake-clock.js'
export { describeEnvelopeLog, type StoreUnderTest, type TestRunner } from './log-suite.js'
export { dialInMemory, type LineEvents, type MemoryLine } from './memory-dial.js'
export { createTestGateway, type TestSpaceOptions, testSpaceConfig, testToken } from './memory-gateway.js'
