import { apiUrl } from '../../../api/client.ts';
import { uploadFile } from '../../../api/upload.ts';

/** Uploads one photo and says how far it is. */
export async function uploadPhoto(itemId: string, file: File, onProgress: (percent: number) => void): Promise<void> {
  const url = apiUrl('POST /items/{item_id}/photos', { params: { item_id: itemId } });
  await uploadFile(url, file, onProgress);
}
