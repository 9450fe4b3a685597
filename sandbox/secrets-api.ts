import type { ServerResponse } from 'node:http'
import type { Aws } from './aws/aws.ts'
import { parseEvent, refuse, write } from './lambda-api.ts'

/**
 * Answers calls to Secrets Manager, so that an operator can rehearse a rotation of the sealing key with
 * the AWS CLI (docs/operations.md#rotate-the-sealing-key).
 */

const TARGET = /^secretsmanager\.(\w+)$/

/** Returns the operation of a request to Secrets Manager; undefined for another request. */
export const secretsOperation = (headers: Record<string, unknown>): string | undefined =>
  TARGET.exec(String(headers['x-amz-target']))?.[1]

export const handleSecretsCall = (
  aws: Aws,
  operation: string,
  body: Buffer | undefined,
  response: ServerResponse,
): void => {
  const name = `${operation}Command`
  const input = body && parseEvent(body)
  if (aws.serviceOf(name) !== 'secretsManager' || !input) {
    refuse(response, 400, 'InvalidRequestException', `The sandbox has no ${operation}`)
    return
  }
  try {
    write(response, 200, aws.perform(name, input as object))
  } catch (error) {
    const { name: type, message } = error as Error
    refuse(response, 400, type, message)
  }
}
