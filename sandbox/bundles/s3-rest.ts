import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { AwsCall, AwsReply, AwsRequest } from './aws-call.ts'

/** S3's REST protocol: objects, also in parts. */

export const s3Call = (request: AwsRequest): AwsCall => ({
  command: commandIn(request),
  reply,
  error,
})

/** By method and the parameter that selects the operation. */
const commands: Record<string, string> = {
  GET: 'GetObjectCommand',
  PUT: 'PutObjectCommand',
  'PUT partNumber': 'UploadPartCommand',
  'POST uploads': 'CreateMultipartUploadCommand',
  'POST uploadId': 'CompleteMultipartUploadCommand',
  'DELETE uploadId': 'AbortMultipartUploadCommand',
}

const commandIn = ({ method, url, headers, body }: AwsRequest): AwsCall['command'] => {
  const { searchParams } = url
  const selector = ['uploads', 'partNumber', 'uploadId'].find((name) => searchParams.has(name))
  const operation = selector ? `${method} ${selector}` : method
  return {
    constructor: { name: commands[operation] ?? operation },
    input: {
      Bucket: url.pathname.split('/')[1],
      Key: url.pathname.split('/').slice(2).map(decodeURIComponent).join('/'),
      Body: body,
      IfNoneMatch: headers['if-none-match'],
      ContentType: headers['content-type'],
      ContentDisposition: headers['content-disposition'],
      UploadId: searchParams.get('uploadId'),
      PartNumber: Number(searchParams.get('partNumber')),
    },
  }
}

type ObjectOutput = {
  Body?: Readable
  ContentType?: string
  ContentDisposition?: string
  ETag?: string
  UploadId?: string
}

const reply = async (output: ObjectOutput): Promise<AwsReply> => {
  const { Body, ContentType = 'application/xml', ContentDisposition, ETag, UploadId } = output
  const headers = {
    'content-type': ContentType,
    ...(ContentDisposition && { 'content-disposition': ContentDisposition }),
    ...(ETag && { etag: ETag }),
  }
  if (Body) return { status: 200, headers, body: await buffer(Body) }
  const members = Object.entries({ ETag, UploadId }).filter(([, text]) => text !== undefined)
  return { status: 200, headers, body: xml('Result', members) }
}

const error = (status: number, { name, message }: Error): AwsReply => ({
  status,
  headers: { 'content-type': 'application/xml' },
  body: xml('Error', [
    ['Code', name],
    ['Message', message],
  ]),
})

const xml = (root: string, members: readonly (readonly [string, unknown])[]): string => {
  const elements = members.map(([name, text]) => `<${name}>${escapeXml(String(text))}</${name}>`)
  return `<${root}>${elements.join('')}</${root}>`
}

const escapeXml = (text: string): string =>
  text.replace(/[<>&]/g, (character) => `&#${character.charCodeAt(0)};`)
