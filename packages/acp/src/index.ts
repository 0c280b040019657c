export { type AgentName, type KnownAgent, knownAgents } from './agents.js'
export { type CodingAgent, type CodingAgentOptions, joinCodingAgent } from './bridge.js'
