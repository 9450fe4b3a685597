import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { StoredObject } from './aws/journal.ts'

/** Returns the object of a presigned URL; undefined if the URL is not valid now. */
export const signedObject = async (url: URL, objects: ReadonlyMap<string, StoredObject>) => {
  const [, Bucket, ...path] = url.pathname.split('/')
  const Key = path.map(decodeURIComponent).join('/')
  const expiresIn = Number(url.searchParams.get('X-Amz-Expires'))
  const signedAt = dateOf(url.searchParams.get('X-Amz-Date') ?? '')
  if (!(signedAt.getTime() + expiresIn * 1000 > Date.now())) return undefined
  const s3 = new S3Client({
    endpoint: url.origin,
    forcePathStyle: true,
    credentials: credentialsIn(url),
  })
  const command = new GetObjectCommand({ Bucket, Key })
  const expected = await getSignedUrl(s3, command, { expiresIn, signingDate: signedAt })
  return expected === url.href ? objects.get(Key) : undefined
}

/** Functions in their own processes have a session token, as on AWS. */
const credentialsIn = ({ searchParams }: URL) => {
  const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' } = process.env
  const sessionToken = searchParams.get('X-Amz-Security-Token')
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(sessionToken && { sessionToken }),
  }
}

/** Parses a time like 20261122T101530Z. */
const dateOf = (text: string): Date =>
  new Date(text.replace(/^(.{4})(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'))
