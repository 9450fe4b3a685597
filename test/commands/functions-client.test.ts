import { createServer, type RequestListener } from 'node:http'
import { Socket } from 'node:net'
import { expect, test, vi } from 'vitest'
import { InvocationFailure, invokeFunction } from '../../commands/functions-client.ts'
import { whileListening } from '../support/servers.ts'

/** Invokes a function of a deployed stage whose Lambda API is a server on this machine. */
const invokeAt = (answer: RequestListener): Promise<unknown> =>
  whileListening(createServer(answer), async (port) => {
    vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', `http://127.0.0.1:${port}`)
    return invokeFunction({ stage: 'sandbox' }, 'manage-debit', { verb: 'list' })
  })

test.each<[string, RequestListener, RegExp]>([
  ['the connection breaks', ({ socket }) => socket.destroy(), /the call may have run/],
  ['Lambda fails', (_, response) => response.writeHead(500).end('{}'), /./],
  [
    'Lambda limits calls',
    (_, response) =>
      response.writeHead(429, { 'x-amzn-errortype': 'TooManyRequestsException' }).end('{}'),
    /manage-debit did not run/,
  ],
])('a call is sent once if %s', async (_, answer, message) => {
  const visit = vi.fn(answer)
  const failure = await invokeAt(visit).catch((error: unknown) => error)
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
  const reply = invokeAt(async (_, response) => {
    await probes.promise
    response.end('{"result":[]}')
  })
  expect(await reply).toEqual({ result: [] })
  expect(await probes.promise).toEqual([true, 1_000])
})
