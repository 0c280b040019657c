import type { Mutant } from './mutant.js'

const safetyPackage = 'packages/safety'

/** Wrong edits of the safety guard. The comment of each says what goes wrong. */
export const safety: readonly Mutant[] = [
  // If a long secret contains a shorter one, its end stays visible.
  {
    package: safetyPackage,
    function: 'merge',
    replace: 'Math.max(last.end, secret.end)',
    by: 'secret.end',
    tests: ['packages/safety/test/disguise.test.ts'],
  },
  // Lookalike letters circumvent a policy.
  {
    package: safetyPackage,
    function: 'compilePolicy',
    replace: 'pattern.test(text) || (seen !== text && pattern.test(seen))',
    by: 'pattern.test(text)',
    tests: ['packages/safety/test/stages.test.ts'],
  },
  // `[INST]` in a text without other markers is not sanitized.
  {
    package: safetyPackage,
    function: 'sanitize',
    replace: "!hasTags && !seen.includes(':') && !seen.includes('[')",
    by: "!hasTags && !seen.includes(':')",
    tests: ['packages/safety/test/injection.test.ts'],
  },
  // If masking shortens a long text, half a secret at the end of the scanned part is shown.
  {
    package: safetyPackage,
    function: 'clampReadable',
    replace: 'Math.max(0, text.length - lookaheadChars)',
    by: 'text.length',
    tests: ['packages/safety/test/long-texts.test.ts'],
  },
  // A secret that another participant completes, or that continues in another field, stays visible.
  {
    package: 'protocol',
    function: 'getPrecedingTexts',
    replace: 'isSameTail(own, all) ? [own] : [own, { ...all, isOtherField: true }]',
    by: '[own]',
    tests: ['protocol/test/envelope-guard.test.ts'],
  },
  // A thought that names a token masks the ids in other fields.
  {
    package: safetyPackage,
    function: 'compileFinder',
    replace: 'if (isOtherField && areLabelled[rank] === true) return',
    by: '',
    tests: ['packages/safety/test/split.test.ts'],
  },
  // A text that a policy blocks is not withheld.
  {
    package: safetyPackage,
    function: 'pass',
    replace: 'if (findings.some(isBlocking)) return withheld(findings)',
    by: '',
    tests: ['packages/safety/test/stages.test.ts'],
  },
  // A word that describes a password, as in `password: your-password`, is masked as if it were a password.
  {
    package: safetyPackage,
    function: 'mayBePassword',
    replace: '!passwordWords.test(value) &&',
    by: '',
    tests: ['packages/safety/test/rules.test.ts'],
  },
  // A secret that begins at the end of a text and continues in the next one is not recognized.
  {
    package: safetyPackage,
    function: 'look',
    replace: '> blankAt && blankAt < text.length',
    by: '> blankAt',
    tests: ['packages/safety/test/first-looks.test.ts'],
  },
  // Two consecutive texts count as prose together, so that no rule examines them, although the examined part of the second ends
  // in a number, which may be the value of a label in the first.
  {
    package: safetyPackage,
    function: 'joinsProse',
    replace: 'return !endsInNumber(text, continuationEnd(text))',
    by: 'return true',
    tests: ['packages/safety/test/prose.test.ts'],
  },
  // A rule whose secrets need a digit is classified as one that may match prose, although words of prose have no digits.
  {
    package: safetyPackage,
    function: 'advance',
    replace: 'return lookAhead(node.node, states)',
    by: 'return states',
    tests: ['packages/safety/test/prose.test.ts'],
  },
  // The beginning of a private key, or the tag of raw thinking, is forgotten as soon as a text of prose follows.
  {
    package: safetyPackage,
    function: 'tailOf',
    replace: 'start > 0 && isOver',
    by: 'start > 0',
    tests: ['packages/safety/test/split.test.ts'],
  },
  // Texts under numeric keys are scanned in another order than they are rewritten in.
  {
    package: 'protocol',
    function: 'collectTexts',
    replace: 'if (isInOrder) return texts',
    by: 'return texts',
    tests: ['protocol/test/envelope-guard.test.ts'],
  },
]
