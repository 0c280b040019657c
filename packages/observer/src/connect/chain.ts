export { sha256 } from '@noble/hashes/sha2.js'
export { ChainCheck } from '../model/log/chain-check.js'
