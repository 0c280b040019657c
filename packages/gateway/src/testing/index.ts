export { FakeClock } from './fake-clock.js'
export { dialInMemory, type LineEvents, type MemoryLine } from './memory-dial.js'
export { createTestGateway, type TestSpaceOptions, testSpaceConfig, testToken } from './memory-gateway.js'
