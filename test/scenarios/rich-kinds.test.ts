import { expect } from 'vitest'
import { meup } from '../support/cli.js'
import { running, timeout } from '../support/guarded-gateway.js'
import { onPage } from '../support/page.js'
import { verifies } from '../verifies.js'

const context = 'reason-123'
const rich = (kind: string, payload: object) => ({ kind: `reasoning.${kind}`, context, payload })

/** The example of rich kinds in ADR-T8K, shortened. */
const flow = [
  rich('start', { goal: 'Evaluate deployment safety', approach: 'security-first analysis' }),
  rich('question', { questions: ['Which auth components are modified?', 'Is there a rollback plan?'] }),
  rich('observation', {
    content: 'Changes affect OAuth2 token validation',
    severity: 'high',
    components: ['oauth2', 'sessions'],
  }),
  rich('hypothesis', {
    hypothesis: 'A regression in token expiration',
    confidence: 0.85,
    evidence: ['test_failures', 'oauth2_changes'],
  }),
  rich('conclusion', {
    decision: 'do_not_deploy',
    confidence: 0.92,
    key_factors: ['Failed security tests', 'Token expiration regression'],
    recommendation: 'Fix token expiration first',
  }),
]

verifies(
  'M29',
  'a terminal shows all that thoughts of richer kinds say',
  async () => {
    const space = await running()
    await space.post('ana', flow)
    const { stdout } = await meup(['watch', '--from', '1', '--no-follow', '--as', 'ben'], {
      cwd: space.folder,
    })
    const thoughts = stdout.slice(stdout.indexOf('  ana ┄'))
    expect(thoughts).toBe(`  ana ┄ Evaluate deployment safety
  │ approach: security-first analysis
  ana · question:
  │ - Which auth components are modified?
  │ - Is there a rollback plan?
  ana · observation: Changes affect OAuth2 token validation
  │ severity: high
  │ components: oauth2, sessions
  ana · hypothesis: A regression in token expiration
  │ confidence: 0.85
  │ evidence: test_failures, oauth2_changes
  ana ∎ do_not_deploy
  │ confidence: 0.92
  │ key_factors:
  │ - Failed security tests
  │ - Token expiration regression
  │ 
  │ recommendation: Fix token expiration first
`)
    await space.stop()
  },
  { timeout },
)

verifies(
  'M29',
  'the page shows thoughts of richer kinds as cards under the name of their kind',
  onPage(async ({ gateway, page, enter }) => {
    const planner = await gateway.enter('planner')
    await enter()
    for (const envelope of flow) await planner.send(envelope)
    await page.shows('3 thoughts')
    await page.click('.heading .fold')
    await page.shows('evidence: test_failures, oauth2_changes')
    const cards = `[...document.querySelectorAll('.line.typed')].map((card) => card.innerText)`
    await expect
      .poll(() => page.evaluate(cards))
      .toEqual([
        'question\n- Which auth components are modified?\n- Is there a rollback plan?',
        'observation\nChanges affect OAuth2 token validation\nseverity: high\ncomponents: oauth2, sessions',
        'hypothesis\nA regression in token expiration\nconfidence: 0.85\nevidence: test_failures, oauth2_changes',
      ])
    await page.shows('Evaluate deployment safety approach: security-first analysis')
    // A field after a list is displayed outside of its last item.
    const items = `[...document.querySelectorAll('.view li')].map((item) => item.innerText.trim())`
    await expect.poll(() => page.evaluate(items)).toContain('Token expiration regression')
    await page.shows('recommendation: Fix token expiration first')
  }),
  { timeout },
)
