import { afterAll, beforeAll, expect, test } from 'vitest'
import { invokeFunction } from '../../cli/functions-client.ts'
import { functionRows } from '../../infra/definitions/functions.ts'
import { loadFunctions } from '../../sandbox/function-host.ts'
import { type Gateway, openGateway } from '../../sandbox/gateway.ts'
import { handler } from '../support/sized-reply.ts'

const REQUEST_MAX = 6_291_456
const RESPONSE_MAX = 6_291_556
/** The largest body of a reply. */
const BODY_MAX = RESPONSE_MAX - JSON.stringify({ statusCode: 200, headers: {}, body: '' }).length

let gateway: Gateway

beforeAll(async () => {
  const rows = functionRows.filter(({ name }) => name === 'answer-unmatched')
  gateway = await openGateway(0)
  gateway.serve({
    functions: await loadFunctions(rows, async () => ({
      handler: (event) => handler(event as never),
    })),
    onReply: () => undefined,
  })
})
afterAll(() => gateway.stop())

const invoke = (event: unknown) =>
  invokeFunction({ port: Number(new URL(gateway.address).port) }, 'answer-unmatched', event)

test('a response has at most 6,291,556 bytes, else it is a function error, and 503/1503 over HTTP', async () => {
  expect(JSON.stringify(await invoke({ size: BODY_MAX }))).toHaveLength(RESPONSE_MAX)
  expect((await fetch(`${gateway.address}/${BODY_MAX}`)).status).toBe(200)
  await expect(invoke({ size: BODY_MAX + 1 })).rejects.toThrow(
    'answer-unmatched: Function.ResponseSizeTooLarge: Response payload size exceeded maximum ' +
      'allowed payload size (6291556 bytes).',
  )
  const response = await fetch(`${gateway.address}/${BODY_MAX + 1}`)
  expect(response.status).toBe(503)
  expect(await response.json()).toMatchObject({ success: false, error: { code: 1503 } })
})

test('a request has at most 6,291,456 bytes, else it gets 413', async () => {
  const event = (bytes: number) => ({ size: 0, pad: 'x'.repeat(bytes - 19) })
  expect(JSON.stringify(event(REQUEST_MAX))).toHaveLength(REQUEST_MAX)
  expect(await invoke(event(REQUEST_MAX))).toMatchObject({ statusCode: 200 })
  const tooLarge = /^RequestEntityTooLargeException: Request must be smaller than 6291456 bytes/
  await expect(invoke(event(REQUEST_MAX + 1))).rejects.toThrow(tooLarge)
  // Base64 makes a body of 5 MB larger than an event.
  const replies = [4_000_000, 5_000_000].map((bytes) =>
    fetch(`${gateway.address}/0`, { method: 'POST', body: 'x'.repeat(bytes) }),
  )
  const [accepted, refused] = await Promise.all(replies)
  expect([accepted?.status, refused?.status]).toEqual([200, 413])
  const error = { error: { code: 1400 }, details: ['body too large'] }
  expect(await refused?.json()).toMatchObject(error)
})
