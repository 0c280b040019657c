import { equal } from 'node:assert/strict'
import { sum } from './sum.js'

equal(sum(2, 3), 5)
console.log('ok')
