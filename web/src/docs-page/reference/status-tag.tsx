const PHRASES: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  204: 'No Content',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

export function statusPhrase(status: number): string {
  return PHRASES[status] ?? ''
}

/** A status number, coloured by what it means: fine, nothing new, the caller's or the service's trouble. */
export function StatusTag({ status }: { readonly status: number }) {
  const kind = status < 300 ? 'fine' : status < 400 ? 'unchanged' : status < 500 ? 'refused' : 'broken'
  return <span className={`status-tag status-tag--${kind} number`}>{status}</span>
}
