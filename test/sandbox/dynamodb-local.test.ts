import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { expect, inject, test } from 'vitest'

const port = (): number => Number(new URL(inject('dynamoDbEndpoint')).port)

const externalAddresses = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .filter(({ internal, scopeid }) => !internal && !scopeid)
  .map(({ address }) => address)

// DynamoDB Local accepts any credential, so only this machine may reach it.
test('DynamoDB Local listens on the loopback address only', async () => {
  for (const host of externalAddresses) {
    const socket = connect(port(), host)
    const outcome = await Promise.race([
      once(socket, 'connect').then(() => 'connected'),
      once(socket, 'error').then(([error]) => error.code),
    ]).catch((error: NodeJS.ErrnoException) => error.code)
    socket.destroy()
    expect(outcome, host).toBe('ECONNREFUSED')
  }
})

test.each([
  [{}, 400],
  [{ Host: 'localhost' }, 400],
  [{ Origin: 'http://localhost:3000' }, 400],
  [{ Host: 'evil.example' }, 403],
  [{ Host: '127.0.0.1.evil.example' }, 403],
  [{ Origin: 'https://evil.example' }, 403],
  [{ Origin: 'null' }, 403],
])('a request with %j receives %i', async (headers, status) => {
  const post = request({ host: '127.0.0.1', port: port(), method: 'POST', headers }).end('{}')
  const [response] = await once(post, 'response')
  response.resume()
  expect(response.statusCode).toBe(status)
})
