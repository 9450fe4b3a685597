import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { curlOf } from '../../console/page/curl.ts'
import { openLive } from '../../console/server/live.ts'

/** Returns the words that a shell passes to curl. */
const wordsOf = (command: string): string[] => {
  const script = `curl() { printf '%s\\0' "$@"; }\nTOKEN=secret\n${command}`
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1)
}

const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0'))
const line = text.filter((value) => !/[\r\n]/.test(value))

test('a copied command repeats method, target, headers and body, with the token of a variable', () => {
  fc.assert(
    fc.property(line, line, text, (target, header, body) => {
      const live = openLive()
      live.addRequest({
        at: '2026-11-22T00:00:00.000Z',
        method: 'POST',
        target: `/${target}`,
        status: 202,
        milliseconds: 1,
        request: {
          headers: [
            ['Host', 'localhost'],
            ['X-Text', header],
            ['Authorization', 'Bearer sk_sandbox_demo'],
          ],
          body,
        },
        reply: { headers: [], body: '' },
      })
      const [request] = live.requests()
      const command = request ? curlOf(request, 'http://127.0.0.1:3000') : ''
      expect(wordsOf(command)).toEqual([
        ...['-X', 'POST', `http://127.0.0.1:3000/${target}`],
        ...['-H', `X-Text: ${header}`, '-H', 'Authorization: Bearer secret'],
        ...(body ? ['--data-raw', body] : []),
      ])
    }),
    { numRuns: 50 },
  )
})

test.each([
  ['Bearer "$(exit 1)', 'Authorization: Bearer secret'],
  ['$(exit 1) x', 'Authorization: $(exit secret'],
  ['token', 'Authorization: secret'],
])('the credential %s is masked, and the shell runs none of it', (value, expected) => {
  const live = openLive()
  const headers: [string, string][] = [['Authorization', value]]
  live.addRequest({
    ...{ at: '', method: 'GET', target: '/', status: 401, milliseconds: 1 },
    ...{ request: { headers, body: '' }, reply: { headers: [], body: '' } },
  })
  const [request] = live.requests()
  const words = wordsOf(request ? curlOf(request, '') : '')
  expect(words).toEqual(['-X', 'GET', '/', '-H', expected])
})
