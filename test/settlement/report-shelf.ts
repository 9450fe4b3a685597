import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { mockClient } from 'aws-sdk-client-mock'

/** Accepts every report of a file's tests. */
export const useReportShelf = (): void => {
  process.env.REPORTS_BUCKET = 'reports'
  mockClient(S3Client).on(PutObjectCommand).resolves({})
}
