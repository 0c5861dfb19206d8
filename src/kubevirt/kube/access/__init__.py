"""Where a server is and who we are to it: kubeconfigs, credentials, certificates, proxies."""
