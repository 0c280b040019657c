export { createTestSpace, type TestSpace } from './test-space.js'
