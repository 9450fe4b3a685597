import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectsCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3'

const clientFor = (endpoint: string, region: string): S3Client =>
  new S3Client({ endpoint, region, forcePathStyle: true })

export const createBucket = async (endpoint: string, region: string, Bucket: string) => {
  const s3 = clientFor(endpoint, region)
  await s3.send(new CreateBucketCommand({ Bucket }))
  s3.destroy()
}

export const removeBucket = async (endpoint: string, region: string, Bucket: string) => {
  const s3 = clientFor(endpoint, region)
  for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, { Bucket })) {
    const Objects = Contents.map(({ Key }) => ({ Key }))
    if (Objects.length > 0) {
      await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }))
    }
  }
  await s3.send(new DeleteBucketCommand({ Bucket }))
  s3.destroy()
}
