import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { StoredObject } from '../aws/journal.ts'

/** Returns the object of a presigned URL; undefined if the URL is not valid now. */
export const signedObject = async (url: URL, objects: ReadonlyMap<string, StoredObject>) => {
  const [, Bucket, ...path] = url.pathname.split('/')
  const Key = path.map(decodeURIComponent).join('/')
  const expiresIn = Number(url.searchParams.get('X-Amz-Expires'))
  const signedAt = dateOf(url.searchParams.get('X-Amz-Date') ?? '')
  if (!(signedAt.getTime() + expiresIn * 1000 > Date.now())) return undefined
  const s3 = new S3Client({ endpoint: url.origin, forcePathStyle: true })
  const command = new GetObjectCommand({ Bucket, Key })
  const expected = await getSignedUrl(s3, command, { expiresIn, signingDate: signedAt })
  return expected === url.href ? objects.get(Key) : undefined
}

/** Parses a time like 20261122T101530Z. */
const dateOf = (text: string): Date =>
  new Date(text.replace(/^(.{4})(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'))
