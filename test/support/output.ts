import { afterAll, expect, vi } from 'vitest'

/** Captures the lines that the functions print during the tests of a file, as JSON. */
export const captureOutput = () => {
  const written: string[] = []
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation((part) => written.push(String(part)) > 0),
  )
  afterAll(() => {
    for (const spy of spies) spy.mockRestore()
  })
  const text = () => written.join('')
  const lines = () =>
    text()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  return {
    text,
    lines,
    clear: () => {
      written.length = 0
    },
    /** Returns the metrics of each line, without the members of every line. */
    metrics: () =>
      lines().map(({ _aws, service, ...metrics }) => {
        expect(service).toBe('debit-collection-sandbox')
        return metrics
      }),
  }
}
