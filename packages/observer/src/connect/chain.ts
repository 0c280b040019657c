export { sha256 } from '@noble/hashes/sha2.js'
export { BrokenChain, ChainCheck } from '../model/log/chain-check.js'
