import { createServer, type RequestListener } from 'node:http'
import { Socket } from 'node:net'
import { expect, test, vi } from 'vitest'
import { InvocationFailure } from '../../commands/functions-client.ts'
import { callerOf, isAllowed, operate } from '../../commands/operator-client.ts'
import { whileListening } from '../support/servers.ts'

/** Each stage name has its own address of the function URL. */
let stages = 0

/** Calls a function of a deployed stage; its URL and the Lambda API are a server on this machine. */
const callAt = <T>(answer: RequestListener, call: (stage: string) => Promise<T>): Promise<T> => {
  const server = createServer((request, response) => {
    if (!request.url?.endsWith('/url')) return answer(request, response)
    response.end(JSON.stringify({ FunctionUrl: `http://${request.headers.host}/` }))
  })
  return whileListening(server, async (port) => {
    vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', `http://127.0.0.1:${port}`)
    stages += 1
    return call(`stage${stages}`)
  })
}

const list = (stage: string) => operate({ stage }, 'debit', { verb: 'list', options: {} })

test.each<[string, RequestListener, RegExp]>([
  ['the connection breaks', ({ socket }) => socket.destroy(), /the call may have run/],
  ['the function fails', (_, response) => response.writeHead(502).end(), /function failed/],
  ['Lambda limits calls', (_, response) => response.writeHead(429).end('{}'), /did not run/],
])('a call is sent once if %s', async (_, answer, message) => {
  const visit = vi.fn(answer)
  const failure = await callAt(visit, list).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(InvocationFailure)
  expect(String(failure)).toMatch(message)
  expect(visit).toHaveBeenCalledTimes(1)
})

test('a long call keeps its connection alive by TCP probes', async () => {
  const probes = Promise.withResolvers<unknown>()
  vi.spyOn(Socket.prototype, 'setKeepAlive').mockImplementation(function (this: Socket, ...args) {
    probes.resolve(args)
    return this
  })
  const reply = callAt(async (_, response) => {
    await probes.promise
    response.end('{"result":[]}')
  }, list)
  expect(await reply).toEqual({ result: [] })
  expect(await probes.promise).toEqual([true, 1_000])
})

test('a caller whom AWS denies a noun has no name there', async () => {
  const allowed = { result: { caller: 'arn:aws:iam::123456789012:user/ama' } }
  const callerAt = (status: number, body: object) =>
    callAt(
      (_, response) => response.writeHead(status).end(JSON.stringify(body)),
      (stage) => callerOf(stage, 'debit'),
    )
  expect(await callerAt(200, allowed)).toBe(allowed.result.caller)
  expect(await callerAt(403, {})).toBeUndefined()
})

test('a noun is allowed or denied, and one whose function is throttled or fails is neither', async () => {
  const at = (status: number) =>
    callAt(
      (_, response) => response.writeHead(status).end('{}'),
      (stage) => isAllowed(stage, 'approval'),
    )
  expect([await at(200), await at(403)]).toEqual([true, false])
  await expect(at(429)).rejects.toThrow('AWS limits calls; repeat it')
  await expect(at(502)).rejects.toThrow('the function failed')
})
