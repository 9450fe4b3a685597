import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** Secrets Manager, as far as functions ask it: the value of a secret by its ARN. */
export type SecretsManager = { endpoint: string; stop: () => Promise<void> }

export const startSecretsManager = async (
  secrets: Readonly<Record<string, string>>,
): Promise<SecretsManager> => {
  const server = createServer(async (request, response) => {
    const { SecretId } = (await json(request)) as { SecretId: string }
    const SecretString = secrets[SecretId]
    const [status, body] =
      SecretString === undefined
        ? [400, { __type: 'ResourceNotFoundException', message: 'Unknown secret' }]
        : [200, { ARN: SecretId, SecretString }]
    response
      .writeHead(status, { 'content-type': 'application/x-amz-json-1.1' })
      .end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
