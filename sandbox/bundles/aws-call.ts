import type { IncomingHttpHeaders } from 'node:http'
import type { Command } from '../aws/sdk.ts'

export type AwsRequest = { method: string; url: URL; headers: IncomingHttpHeaders; body: Buffer }

export type AwsReply = { status: number; headers: Record<string, string>; body: string | Buffer }

export type Output = Record<string, unknown>

/** A request to AWS as a command of the SDK, with its replies in the protocol of the service. */
export type AwsCall = {
  command: Command
  reply: (output: Output) => AwsReply | Promise<AwsReply>
  error: (status: number, error: Error) => AwsReply
}
