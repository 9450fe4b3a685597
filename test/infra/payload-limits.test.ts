import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { invokeFunction } from '../../cli/functions-client.ts'
import { functionRows } from '../../infra/definitions/functions.ts'
import { loadFunctions } from '../../sandbox/function-host.ts'
import { type Gateway, openGateway } from '../../sandbox/gateway.ts'

const REQUEST_MAX = 6_291_456
const RESPONSE_MAX = 6_291_556
/** Bytes of a reply without its body. */
const FRAME = JSON.stringify({ statusCode: 200, headers: {}, body: '' }).length

let gateway: Gateway

beforeAll(async () => {
  const rows = functionRows
    .filter(({ name }) => name === 'answer-unmatched')
    .map((row) => ({ ...row, entry: 'test/support/sized-reply.ts' }))
  gateway = await openGateway(0)
  gateway.serve({ functions: await loadFunctions(rows), onReply: () => undefined })
})
afterAll(() => gateway.stop())

const invoke = (event: unknown) =>
  invokeFunction({ port: Number(new URL(gateway.address).port) }, 'answer-unmatched', event)

describe('a response', () => {
  test('passes with 6,291,556 bytes', async () => {
    const reply = await invoke({ size: RESPONSE_MAX - FRAME })
    expect(JSON.stringify(reply)).toHaveLength(RESPONSE_MAX)
    expect((await fetch(`${gateway.address}/${RESPONSE_MAX - FRAME}`)).status).toBe(200)
  })

  test('becomes a function error, and 503/1503 over HTTP, with one byte more', async () => {
    await expect(invoke({ size: RESPONSE_MAX - FRAME + 1 })).rejects.toThrow(
      'answer-unmatched: Function.ResponseSizeTooLarge: Response payload size exceeded maximum ' +
        'allowed payload size (6291556 bytes).',
    )
    const response = await fetch(`${gateway.address}/${RESPONSE_MAX - FRAME + 1}`)
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ success: false, error: { code: 1503 } })
  })
})

describe('a request', () => {
  const event = (bytes: number) => ({ size: 0, pad: 'x'.repeat(bytes - 19) })

  test('passes with 6,291,456 bytes', async () => {
    expect(JSON.stringify(event(REQUEST_MAX))).toHaveLength(REQUEST_MAX)
    expect(await invoke(event(REQUEST_MAX))).toMatchObject({ statusCode: 200 })
  })

  test.each([1, 5 * 1024 * 1024])('receives 413 with %i bytes more', async (excess) => {
    await expect(invoke(event(REQUEST_MAX + excess))).rejects.toThrow(
      /^RequestEntityTooLargeException: Request must be smaller than 6291456 bytes/,
    )
  })

  test.each([
    [4_000_000, 200],
    // Base64 increases it above the limit of an event.
    [5_000_000, 413],
  ])('with a body of %i bytes receives %i over HTTP', async (bytes, status) => {
    const body = 'x'.repeat(bytes)
    const response = await fetch(`${gateway.address}/0`, { method: 'POST', body })
    expect(response.status).toBe(status)
    const tooLarge = { error: { code: 1400 }, details: ['body too large'] }
    if (status === 413) expect(await response.json()).toMatchObject(tooLarge)
  })
})
