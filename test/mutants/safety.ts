import type { Mutant } from './mutant.js'

const safetyPackage = 'packages/safety'

export const safety: readonly Mutant[] = [
  // The end of a long secret that contains a shorter one stays visible.
  {
    package: safetyPackage,
    function: 'merge',
    replace: 'Math.max(last.end, secret.end)',
    by: 'secret.end',
    tests: ['packages/safety/test/disguise.test.ts'],
  },
  // A policy is escaped by letters that only look different.
  {
    package: safetyPackage,
    function: 'compilePolicy',
    replace: 'pattern.test(text) || (seen !== text && pattern.test(seen))',
    by: 'pattern.test(text)',
    tests: ['packages/safety/test/stages.test.ts'],
  },
  // `[INST]` alone is taken for harmless.
  {
    package: safetyPackage,
    function: 'sanitize',
    replace: "!hasTags && !seen.includes(':') && !seen.includes('[')",
    by: "!hasTags && !seen.includes(':')",
    tests: ['packages/safety/test/injection.test.ts'],
  },
  // Half a secret is shown where the reading of a long text ended in it, if marks made the text shorter.
  {
    package: safetyPackage,
    function: 'clampReadable',
    replace: 'Math.max(0, text.length - lookaheadChars)',
    by: 'text.length',
    tests: ['packages/safety/test/long-texts.test.ts'],
  },
  // A secret that another participant completes, or that continues elsewhere, stays visible.
  {
    package: 'protocol',
    function: 'getPrecedingTexts',
    replace: 'isSameTail(own, all) ? [own] : [own, all]',
    by: '[own]',
    tests: ['protocol/test/envelope-guard.test.ts'],
  },
  // A text that a policy blocks is not withheld.
  {
    package: safetyPackage,
    function: 'pass',
    replace: 'if (findings.some(isBlocking)) return withheld(findings)',
    by: '',
    tests: ['packages/safety/test/stages.test.ts'],
  },
  // The word for a password is taken for one, in every example.
  {
    package: safetyPackage,
    function: 'mayBePassword',
    replace: '!passwordWords.test(value) &&',
    by: '',
    tests: ['packages/safety/test/rules.test.ts'],
  },
  // A token that continues in the next text is not recognized.
  {
    package: safetyPackage,
    function: 'look',
    replace: '> blankAt && blankAt < text.length',
    by: '> blankAt',
    tests: ['packages/safety/test/first-looks.test.ts'],
  },
  // A label in prose is taken for one without a value, though the part that is looked at ends in a number.
  {
    package: safetyPackage,
    function: 'joinsProse',
    replace: 'return !endsInNumber(text, continuationEnd(text))',
    by: 'return true',
    tests: ['packages/safety/test/prose.test.ts'],
  },
  // A rule whose secret needs a digit seems to match prose.
  {
    package: safetyPackage,
    function: 'advance',
    replace: 'return lookAhead(node.node, states)',
    by: 'return states',
    tests: ['packages/safety/test/prose.test.ts'],
  },
  // Text before a private key, or raw thinking, seems finished.
  {
    package: safetyPackage,
    function: 'tailOf',
    replace: 'start > 0 && isOver',
    by: 'start > 0',
    tests: ['packages/safety/test/split.test.ts'],
  },
  // Texts under keys that are numbers are counted in another order than they are rewritten.
  {
    package: 'protocol',
    function: 'collectTexts',
    replace: 'if (isInOrder) return texts',
    by: 'return texts',
    tests: ['protocol/test/envelope-guard.test.ts'],
  },
]
