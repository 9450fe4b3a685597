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
    /** Returns the metrics of each line that has some; with the details of a line without a level. */
    metrics: () =>
      lines()
        .filter(({ _aws }) => _aws)
        .map(({ _aws, service, ...members }) => {
          expect(service).toBe('debit-collection-sandbox')
          const groups: { Metrics: { Name: string }[] }[] = _aws.CloudWatchMetrics
          const names = groups.flatMap(({ Metrics }) => Metrics.map(({ Name }) => Name))
          return members.level
            ? Object.fromEntries(names.map((name) => [name, members[name]]))
            : members
        }),
  }
}
