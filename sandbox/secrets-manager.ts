import { json } from 'node:stream/consumers'
import { type LocalServer, startLocalServer } from './local-server.ts'

/** Serves Secrets Manager's GetSecretValue for secrets by ARN. */
export const startSecretsManager = (
  secrets: Readonly<Record<string, string>>,
): Promise<LocalServer> =>
  startLocalServer(async (request, response) => {
    const { SecretId } = (await json(request)) as { SecretId: string }
    const SecretString = secrets[SecretId]
    const [status, body] =
      SecretString === undefined
        ? [400, { __type: 'ResourceNotFoundException', message: 'Unknown secret' }]
        : [200, { ARN: SecretId, SecretString }]
    response
      .writeHead(status, { 'content-type': 'application/x-amz-json-1.1' })
      .end(JSON.stringify(body))
  })
