import { createServer, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { functionNames } from '../../infra/definitions/function-permissions.ts'
import { authorize } from '../authorizer.ts'
import { md5 } from '../aws/dead-letters.ts'
import type { Answer, Command } from '../aws/sdk.ts'
import { close, listen } from '../local-server.ts'
import { isLocal, targetOf } from '../request-target.ts'
import type { AwsCall, AwsReply, AwsRequest, Output } from './aws-call.ts'
import { documentCommand, documentInput, wireOutput } from './dynamodb-json.ts'
import { s3Call } from './s3-rest.ts'

/** Answers the AWS calls of functions in other processes over HTTP, from the services in memory. */

export type AwsServices = {
  answer: Answer
  /** Returns the object of a presigned URL; undefined if the URL is not valid now. */
  readObject: (url: URL) => Promise<unknown>
}

/** @returns the address of the endpoint, which ends with the stack */
export const openAwsEndpoint = async (
  services: AwsServices,
  cleanup: AsyncDisposableStack,
): Promise<string> => {
  const server = createServer((request, response) => {
    respond(request, services).then(
      ({ status, headers, body }) => {
        const length = { 'content-length': Buffer.byteLength(body) }
        response.writeHead(status, { ...headers, ...length }).end(body)
      },
      // The request is incomplete, or follows no protocol of AWS.
      () => response.destroy(),
    )
  })
  const port = await listen(server)
  cleanup.defer(() => close(server))
  return `http://127.0.0.1:${port}`
}

const respond = async (request: IncomingMessage, services: AwsServices): Promise<AwsReply> => {
  const { method = '', headers } = request
  const url = new URL(request.url ?? '/', `http://${headers.host}`)
  const call = callIn({ method, url, headers, body: await buffer(request) })
  try {
    await checkCaller(request, url, call.command, services)
    const output = await services.answer(call.command)
    if (!output) throw newRefusal('UnknownOperationException', call.command.constructor.name)
    return await call.reply(output as Output)
  } catch (error) {
    const { $metadata, $fault } = error as Partial<Refusal>
    const status = $metadata?.httpStatusCode ?? ($fault === 'client' ? 400 : 500)
    return call.error(status, error as Error)
  }
}

type Refusal = Error & { $fault: string; $metadata: { httpStatusCode?: number } }

const newRefusal = (name: string, message: string): Refusal =>
  Object.assign(new Error(message), { name, $fault: 'client', $metadata: { httpStatusCode: 403 } })

/** Checks the call against the permissions of the function that the session token names. */
const checkCaller = async (
  request: IncomingMessage,
  url: URL,
  command: Command,
  { readObject }: AwsServices,
): Promise<void> => {
  const { headers } = request
  if (!isLocal(targetOf(request), headers, [])) throw newRefusal('AccessDenied', 'A foreign host')
  if (url.searchParams.has('X-Amz-Signature')) {
    const isRead = command.constructor.name === 'GetObjectCommand'
    if (isRead && (await readObject(url))) return
    throw newRefusal('AccessDenied', 'The signature is invalid or has expired')
  }
  const caller = functionNames.find((name) => name === headers['x-amz-security-token'])
  if (!caller) throw newRefusal('UnrecognizedClientException', 'The token names no function')
  const denied = authorize(caller, command)
  if (denied) throw denied
}

const TARGET = /^(DynamoDB_20120810|AmazonSQS|secretsmanager)\.(\w+)$/
const INVOCATION = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/
const SCHEDULE = /^\/schedules\/([^/]+)$/

const callIn = (request: AwsRequest): AwsCall => {
  const { method, url, headers, body } = request
  const call = (name: string, input: object, reply: AwsCall['reply'] = json): AwsCall => ({
    command: { constructor: { name }, input: input as Output },
    reply,
    error: jsonError,
  })
  const [, service, operation = ''] = TARGET.exec(String(headers['x-amz-target'])) ?? []
  if (service) {
    const input = JSON.parse(body.toString())
    if (service === 'AmazonSQS') {
      return call(`${operation}Command`, input, (output) => json(withDigests(input, output)))
    }
    if (service === 'secretsmanager') return call(`${operation}Command`, input)
    const reply: AwsCall['reply'] = (output) => json(wireOutput(output))
    return call(documentCommand(operation), documentInput(input) as object, reply)
  }
  const [, schedule] = SCHEDULE.exec(url.pathname) ?? []
  if (schedule && method === 'POST') {
    const Name = decodeURIComponent(schedule)
    return call('CreateScheduleCommand', { ...JSON.parse(body.toString()), Name })
  }
  const [, functionName] = INVOCATION.exec(url.pathname) ?? []
  if (functionName) {
    const input = { FunctionName: decodeURIComponent(functionName), Payload: body.toString() }
    return call('InvokeCommand', input, invocationReply)
  }
  return s3Call(request)
}

const json = (value: unknown, status = 200, headers = {}): AwsReply => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(value),
})

const jsonError: AwsCall['error'] = (status, { name, message, ...members }) =>
  json({ ...members, __type: name, message }, status, { 'x-amzn-errortype': name })

const invocationReply = ({ Payload, FunctionError }: Output): AwsReply => ({
  status: 200,
  headers: FunctionError ? { 'x-amz-function-error': String(FunctionError) } : {},
  body: Payload as Buffer,
})

type SqsInput = { MessageBody?: string; Entries?: readonly { Id: string; MessageBody: string }[] }

/** Adds digests, which the client compares with the bodies that it sent. */
const withDigests = ({ MessageBody, Entries = [] }: SqsInput, output: Output): Output => {
  if (MessageBody !== undefined) return { ...output, MD5OfMessageBody: md5(MessageBody) }
  if (!output.Successful) return output
  const Successful = (output.Successful as { Id: string }[]).map((entry) => ({
    ...entry,
    MD5OfMessageBody: md5(Entries.find(({ Id }) => Id === entry.Id)?.MessageBody ?? ''),
  }))
  return { ...output, Successful }
}
