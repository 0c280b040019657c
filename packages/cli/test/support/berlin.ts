import { afterAll, beforeAll } from 'vitest'

/** Sets the time zone of a test file to Europe/Berlin. */
export function useBerlinTime(): void {
  const zone = process.env.TZ
  beforeAll(() => {
    process.env.TZ = 'Europe/Berlin'
  })
  afterAll(() => {
    if (zone === undefined) delete process.env.TZ
    else process.env.TZ = zone
  })
}
