/** Generates the sources that tests need. */
export async function setup(): Promise<void> {
  await import('../../protocol/scripts/generate.js')
  await import('../../packages/safety/scripts/generate.js')
}
