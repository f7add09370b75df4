"""The providers that normtune ships."""
