import { afterAll, beforeAll, expect, test } from 'vitest'
import { functionRows } from '../../infra/definitions/functions.ts'
import { loadFunctions } from '../../sandbox/function-host.ts'
import { type Gateway, openGateway } from '../../sandbox/gateway.ts'

const RESPONSE_MAX = 6_291_556
/** The largest body of a reply. */
const BODY_MAX = RESPONSE_MAX - JSON.stringify({ statusCode: 200, headers: {}, body: '' }).length

let gateway: Gateway
beforeAll(async () => {
  gateway = await openGateway(0)
  const rows = functionRows.filter(({ name }) => name === 'answer-unmatched')
  // Replies with a body of the size in its path.
  const handler = async (event: unknown) => {
    const { path } = event as { path: string }
    return { statusCode: 200, headers: {}, body: 'x'.repeat(Number(path.slice(1))) }
  }
  gateway.serve({
    functions: await loadFunctions(rows, async () => ({ handler })),
    onReply: () => undefined,
  })
})
afterAll(() => gateway.stop())

// Base64 makes a request of 5 MB larger than an event of 6,291,456 bytes.
test.each([
  ['response', BODY_MAX, 0, 200, undefined],
  ['response', BODY_MAX + 1, 0, 503, 1503],
  ['request', 0, 4_000_000, 200, undefined],
  ['request', 0, 5_000_000, 413, 1400],
])('a %s of %i and %i bytes has the status %i', async (_, size, bytes, status, code) => {
  const body = 'x'.repeat(bytes)
  const response = await fetch(`${gateway.address}/${size}`, { method: 'POST', body })
  expect(response.status).toBe(status)
  if (code) expect(await response.json()).toMatchObject({ success: false, error: { code } })
})
