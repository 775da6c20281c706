/** Opens the configured store of files. */
import type { Config } from "../core/config.ts";
import { BucketFiles } from "./bucket.ts";
import type { Files } from "./files.ts";
import { FolderFiles } from "./folder.ts";

export function openFiles(config: Config): Files {
  const { filesFolder, s3Bucket: bucket, s3Endpoint: endpoint, s3Region: region, s3Prefix: prefix } = config;
  const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = config;
  if (bucket === undefined || endpoint === undefined || accessKeyId === undefined || secretAccessKey === undefined)
    return new FolderFiles(filesFolder);
  return new BucketFiles(filesFolder, { endpoint, bucket, region, prefix, accessKeyId, secretAccessKey });
}
